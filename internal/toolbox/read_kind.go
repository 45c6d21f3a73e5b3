package toolbox

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// A kind is what a file is that is no text.
type kind struct {
	name string // zip archive
	hint string // how to go on; "" for what holds of any
	at   int    // where magic is
	// magic is what such a file holds; that it does decides, if sure, and else
	// only for what is no text anyway.
	magic string
	sure  bool
}

const (
	asZip  = "list it with unzip -l"
	asTar  = "list it with tar -tf"
	asFlow = "unpack it to look into it"
)

// kinds are the files that are named; the first that fits counts.
var kinds = []kind{
	{"zip archive (also jar, docx, xlsx, apk, whl)", asZip, 0, "PK\x03\x04", true},
	{"zip archive without files", asZip, 0, "PK\x05\x06", true},
	{"gzip archive", asTar + " if it is a tar, or zcat", 0, "\x1f\x8b\x08", true},
	{"bzip2 archive", asTar + " if it is a tar, or bzcat", 0, "BZh", false},
	{"xz archive", asTar + " if it is a tar, or xzcat", 0, "\xfd7zXZ\x00", true},
	{"zstd archive", asTar + " if it is a tar, or zstdcat", 0, "\x28\xb5\x2f\xfd", true},
	{"7-Zip archive", asFlow, 0, "7z\xbc\xaf\x27\x1c", true},
	{"RAR archive", asFlow, 0, "Rar!\x1a\x07", true},
	{"tar archive", asTar, 257, "ustar", false},
	{"ar archive (static library or deb)", "list it with ar t", 0, "!<arch>\n", false},
	{"ELF program or library", "", 0, "\x7fELF", true},
	{"Mach-O program or library", "", 0, "\xcf\xfa\xed\xfe", true},
	{"Java class or Mach-O program", "", 0, "\xca\xfe\xba\xbe", true},
	{"Windows program or library", "", 0, "MZ", false},
	{"WebAssembly module", "", 0, "\x00asm", true},
	{"PDF document", "take out its text with pdftotext", 0, "%PDF-", false},
	{"SQLite database", "ask it with sqlite3", 0, "SQLite format 3\x00", true},
	{"PNG image", "", 0, "\x89PNG\r\n\x1a\n", true},
	{"JPEG image", "", 0, "\xff\xd8\xff", false},
	{"GIF image", "", 0, "GIF8", false},
	{"WebP image", asPNG, 8, "WEBP", false},
	{"TIFF image", asPNG, 0, "II*\x00", false},
	{"TIFF image", asPNG, 0, "MM\x00*", false},
	{"Windows icon", asPNG, 0, "\x00\x00\x01\x00", false},
	{"bitmap image", asPNG, 0, "BM", false},
	{"font", "", 0, "wOF", false},
	{"font", "", 0, "\x00\x01\x00\x00", false},
	{"Ogg audio or video", "", 0, "OggS", false},
	{"WAV audio", "", 8, "WAVE", false},
	{"MP3 audio", "", 0, "ID3", false},
	{"MP4 video", "", 4, "ftyp", false},
	{"Matroska or WebM video", "", 0, "\x1aE\xdf\xa3", false},
	{"git pack", "", 0, "PACK", false},
	{"git index", "", 0, "DIRC", false},
	{"UTF-32 text", "convert it with iconv -f UTF-32", 0, "\xff\xfe\x00\x00", false},
}

const asPNG = "convert it to PNG to look at it"

// recognise returns what a file is that begins with head; with sure, only what is
// certainly no text.
func recognise(head []byte, sure bool) (kind, bool) {
	for _, k := range kinds {
		if (k.sure || !sure) && len(head) >= k.at && bytes.HasPrefix(head[k.at:], []byte(k.magic)) {
			return k, true
		}
	}
	return kind{name: "binary data"}, false
}

// notText is the failure of reading a file that is none.
func notText(at string, head []byte, size int64) *tool.Failure {
	k, _ := recognise(head, false)
	if k.hint == "" {
		k.hint = "use a command that understands the format"
	}
	return &tool.Failure{
		Kind: tool.Binary, Message: fmt.Sprintf("read %s: not text: %s, %d bytes", at, k.name, size), Hint: k.hint,
		Detail: data(struct {
			Type string `json:"type"`
			Size int64  `json:"size"`
		}{k.name, size}),
	}
}

// headBytes is where a file says, if it does, what it is and that it is generated.
const headBytes = 1 << 10

// headOf returns the first bytes of a file.
func headOf(f *workspace.Raw) ([]byte, error) {
	head := make([]byte, min(headBytes, f.Size))
	n, err := f.ReadAt(head, 0)
	if err == io.EOF {
		err = nil
	}
	return head[:n], err
}

// generated reports whether a line at the start of content says that it is not
// to be changed by hand.
func generated(content string) bool {
	for line := range strings.Lines(content[:runeBoundary(content, headBytes)]) {
		line = strings.TrimLeftFunc(line, func(r rune) bool { return r != '@' && !unicode.IsLetter(r) })
		if strings.HasPrefix(line, "@generated") || strings.HasPrefix(line, "DO NOT EDIT") ||
			strings.HasPrefix(line, "Code generated ") && strings.Contains(line, "DO NOT EDIT") {
			return true
		}
	}
	return false
}

// minified reports whether content was made small for machines: its name says
// so, or it is a language for the web in lines that nobody writes.
func minified(p, content string) bool {
	switch name := path.Base(p); path.Ext(name) {
	case ".js", ".mjs", ".cjs", ".css", ".html", ".svg":
		const few, long = 2_000, 400 // bytes of the file, and of a line on average
		return strings.Contains(name, ".min.") || len(content) > few && len(content)/lineCount(content) > long
	}
	return false
}
