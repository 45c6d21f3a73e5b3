package toolbox

import (
	"bytes"
	"context"
	"fmt"
	"image"
	_ "image/gif"  // what every model can be sent
	_ "image/jpeg" // ...
	_ "image/png"  // ...
	"io"
	"unicode/utf8"

	_ "golang.org/x/image/webp" // ...

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// What models can be sent, at most.
const (
	maxImage = 5 << 20 // bytes
	maxSide  = 8_000   // pixels
)

type imageData struct {
	Path     string `json:"path"`
	Type     string `json:"type"`
	Width    int    `json:"width"`
	Height   int    `json:"height"`
	Size     int64  `json:"size"`
	Modified int64  `json:"mtime_ms,omitempty"` // of an artifact there is none
	Digest   string `json:"digest"`
}

// isImage reports whether head begins a file of a form that models can be sent.
func isImage(head []byte) bool {
	if utf8.Valid(head) && bytes.IndexByte(head, 0) < 0 {
		return false // a text may begin as a GIF does
	}
	_, _, err := image.DecodeConfig(bytes.NewReader(head))
	return err == nil || bytes.HasPrefix(head, []byte("\xff\xd8\xff")) // of which the size may come late
}

// picture is the result of reading an image. It is decoded whole: one that is
// not what it says would have every later request rejected.
func picture(ctx context.Context, f *workspace.Raw, env tool.Env) (tool.Result, error) {
	if err := ctx.Err(); err != nil {
		return ended(err), nil
	}
	if f.Size > maxImage {
		return tool.Result{}, tooMuch("read %s: an image of %d bytes, of which a model can be sent %d", f.Path, f.Size, maxImage)
	}
	raw, err := io.ReadAll(io.NewSectionReader(f, 0, maxImage))
	if err != nil {
		return tool.Result{}, &tool.Failure{Kind: tool.IO, Message: fmt.Sprintf("read %s: %v", f.Path, err), Retry: true}
	}
	d, err := examined(f.Path, raw)
	if err != nil {
		return tool.Result{}, err
	}
	d.Modified = f.ModTime.UnixMilli()
	r := tool.Result{
		Status: tool.Success, Data: data(d), Seen: map[string]string{f.Path: d.Digest}, Text: d.line(),
	}
	if env.Spill == nil {
		return r, nil
	}
	handle, err := spilled(env, raw)
	if err != nil {
		return tool.Result{}, fmt.Errorf("keep image %s: %w", f.Path, err)
	}
	r.Media = []tool.Artifact{{Handle: handle, Type: d.Type, Bytes: d.Size}}
	return r, nil
}

// pictureAgain is the result of reading an image that is an artifact already.
func pictureAgain(handle string, raw []byte) (tool.Result, error) {
	d, err := examined(handle, raw)
	if err != nil {
		return tool.Result{}, err
	}
	return tool.Result{
		Status: tool.Success, Data: data(d), Text: d.line(),
		Media: []tool.Artifact{{Handle: handle, Type: d.Type, Bytes: d.Size}},
	}, nil
}

// examined returns what an image is, or why it is not to be sent to a model.
func examined(name string, raw []byte) (imageData, error) {
	c, format, err := image.DecodeConfig(bytes.NewReader(raw))
	if err == nil && (c.Width > maxSide || c.Height > maxSide) {
		return imageData{}, tooMuch("read %s: an image of %d by %d pixels, of which a model can be sent %d by %d",
			name, c.Width, c.Height, maxSide, maxSide)
	}
	if err == nil {
		_, _, err = image.Decode(bytes.NewReader(raw))
	}
	if err != nil {
		return imageData{}, &tool.Failure{
			Kind: tool.Binary, Message: fmt.Sprintf("read %s: an image that does not decode: %v", name, err),
			Hint: "it is damaged or cut: find out where it comes from",
		}
	}
	return imageData{
		Path: name, Type: "image/" + format, Width: c.Width, Height: c.Height, Size: int64(len(raw)), Digest: edit.Digest(raw),
	}, nil
}

func (d imageData) line() string {
	return fmt.Sprintf("%s is an image (%s, %d by %d pixels, %d bytes)", d.Path, d.Type, d.Width, d.Height, d.Size)
}

// spilled stores an artifact and returns its handle.
func spilled(env tool.Env, raw []byte) (string, error) {
	s, err := env.Spill("image")
	if err != nil {
		return "", err
	}
	_, err = s.Write(raw)
	if closed := s.Close(); err == nil {
		err = closed
	}
	return s.Handle(), err
}

func tooMuch(format string, a ...any) *tool.Failure {
	return &tool.Failure{Kind: tool.TooLarge, Message: fmt.Sprintf(format, a...), Hint: "make a smaller copy with a command and read that"}
}
