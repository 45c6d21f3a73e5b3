package provider

import (
	"bytes"
	"encoding/base64"
	"image"
	_ "image/gif"  // decoders of what every API takes
	_ "image/jpeg" // ...
	_ "image/png"  // ...
	"io"
	"net/http"

	_ "golang.org/x/image/webp" // ...

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

const (
	maxPicture = 5 << 20 // bytes that the strictest API takes
	maxSide    = 8000    // pixels
)

// A picture is an image as it is sent.
type picture struct{ kind, base64 string }

func (p picture) dataURL() string { return "data:" + p.kind + ";base64," + p.base64 }

func (p picture) chatBlock() chatBlock {
	return chatBlock{Type: "image_url", ImageURL: &imageURL{URL: p.dataURL()}}
}

// openPicture reads an image and makes sure that it is one: a file that an API
// cannot decode would have every later request rejected.
func openPicture(req *model.Request, at place, a tool.Artifact) (picture, error) {
	if req.Open == nil {
		return picture{}, at.reject("image %s cannot be read here", a.Handle)
	}
	f, err := req.Open(a.Handle)
	if err != nil {
		return picture{}, at.reject("open image %s: %v", a.Handle, err)
	}
	defer f.Close() // it was only read
	b, err := io.ReadAll(io.LimitReader(f, maxPicture+1))
	if err != nil {
		return picture{}, at.reject("read image %s: %v", a.Handle, err)
	}
	if len(b) > maxPicture {
		return picture{}, at.reject("image %s is larger than %d bytes", a.Handle, maxPicture)
	}
	c, format, err := image.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return picture{}, at.reject("image %s is not a PNG, JPEG, GIF or WebP that decodes (%s): %v", a.Handle, http.DetectContentType(b), err)
	}
	if c.Width > maxSide || c.Height > maxSide {
		return picture{}, at.reject("image %s is %d by %d pixels; %d is the most", a.Handle, c.Width, c.Height, maxSide)
	}
	if _, _, err := image.Decode(bytes.NewReader(b)); err != nil {
		return picture{}, at.reject("image %s does not decode: %v", a.Handle, err)
	}
	return picture{"image/" + format, base64.StdEncoding.EncodeToString(b)}, nil
}
