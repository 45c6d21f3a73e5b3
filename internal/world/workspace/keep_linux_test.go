package workspace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/belay-agent/belay/internal/contract/edit"
)

// errNotHere reports what this file system or user cannot have.
var errNotHere = errors.New("not here")

// traits are what a file can have beside its bytes: each gives it to the file f
// in a directory.
var traits = map[string]func(full string) error{
	"private": func(full string) error { return os.Chmod(full, 0o600) },
	"program": func(full string) error { return os.Chmod(full, 0o751) },
	"set-id":  func(full string) error { return os.Chmod(full, 0o755|fs.ModeSetuid|fs.ModeSetgid) },
	"owner": func(full string) error {
		if os.Getuid() != 0 {
			return errNotHere
		}
		return os.Chown(full, 12345, 23456)
	},
	"xattr": func(full string) error {
		return errors.Join(attribute(full, "user.one", []byte("1")), attribute(full, "user.two", []byte{0, 0xFF}))
	},
	"acl": func(full string) error { return attribute(full, "system.posix_acl_access", acl()) },
	"link": func(full string) error {
		return errors.Join(os.Rename(full, full+".real"), os.Symlink(filepath.Base(full)+".real", full))
	},
	"hard link": func(full string) error { return os.Link(full, full+".other") },
}

func attribute(full, name string, value []byte) error {
	err := unix.Setxattr(full, name, value, 0)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EPERM) {
		return errNotHere
	}
	return err
}

// acl lets user 12345 write, beside the owner.
func acl() []byte {
	const none = 0xFFFFFFFF
	b := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range [][3]uint32{{1, 6, none}, {2, 6, 12345}, {4, 4, none}, {0x10, 6, none}, {0x20, 4, none}} {
		b = binary.LittleEndian.AppendUint16(b, uint16(e[0]))
		b = binary.LittleEndian.AppendUint16(b, uint16(e[1]))
		b = binary.LittleEndian.AppendUint32(b, e[2])
	}
	return b
}

// portrait is all that can be seen of a file but its bytes and its inode.
func portrait(t *testing.T, full string) string {
	t.Helper()
	info, err := os.Lstat(full)
	if err != nil {
		t.Fatal(err)
	}
	target, _ := os.Readlink(full)
	var stat unix.Stat_t
	if err := unix.Stat(full, &stat); err != nil {
		t.Fatal(err)
	}
	names := make([]byte, maxAttributes)
	n, err := unix.Listxattr(full, names)
	if err != nil && !errors.Is(err, unix.EOPNOTSUPP) {
		t.Fatal(err)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%v -> %q %o %d:%d", info.Mode(), target, stat.Mode, stat.Uid, stat.Gid)
	for _, name := range splitNames(names[:max(n, 0)]) {
		value := make([]byte, maxAttributes)
		n, err := unix.Getxattr(full, name, value)
		fmt.Fprintf(&b, " %s=%x %v", name, value[:max(n, 0)], err)
	}
	return b.String()
}

// TestPromise_P10 edits, rewrites and takes back forty files: eight traits by
// five forms of text. All but the bytes asked for must stay, or the answer must
// be a refusal that says why.
func TestPromise_P10_R114_AReplacedFileKeepsWhatItHad(t *testing.T) {
	forms := map[string]string{
		"lf": "one\ntwo\n", "crlf": "one\r\ntwo\r\nthree", "mark": "\xEF\xBB\xBFone\r\ntwo\n",
		"utf-16": "\xFF\xFEo\x00n\x00e\x00\r\x00\n\x00\x2d\x4e\r\x00\n\x00", "gb18030": "one\n\xc4\xe3\xba\xc3\xca\xc0\xbd\xe7\n",
	}
	kept, refused, skipped := 0, 0, 0
	for trait, give := range traits {
		for form, raw := range forms {
			w := tree(t, map[string]string{"f": raw})
			switch err := give(filepath.Join(w.Root(), "f")); {
			case errors.Is(err, errNotHere):
				skipped++
				continue
			case err != nil:
				t.Fatalf("%s: %v", trait, err)
			}
			if keeps(t, w, trait+", "+form, raw) {
				kept++
			} else if refused++; trait != "hard link" {
				t.Errorf("%s, %s: refused", trait, form)
			}
		}
	}
	if kept+refused+skipped != 40 {
		t.Errorf("%d files", kept+refused+skipped)
	}
	t.Logf("%d kept all, %d refused, %d cannot be here", kept, refused, skipped)
}

// keeps reports whether a file was edited, rewritten and taken back, and not
// refused for its names.
func keeps(t *testing.T, w *Workspace, name, raw string) bool {
	t.Helper()
	full := filepath.Join(w.Root(), "f")
	before := portrait(t, full)
	text := read(t, w, "f")
	edited := replace(t, text, "one", "1\n1")
	if _, err := w.Write([]edit.Intent{edited}); errors.Is(err, ErrLinked) {
		return false
	} else if err != nil {
		t.Fatalf("%s: edit: %v", name, err)
	}
	again := read(t, w, "f")
	if again.Encoding != text.Encoding || again.Newline != text.Newline {
		t.Errorf("%s: was %s with %q, is %s with %q", name, text.Encoding, text.Newline, again.Encoding, again.Newline)
	}
	regions, err := again.Regions("new\n" + again.Content)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if _, err := w.Write([]edit.Intent{{Path: "f", Base: again.Digest, Regions: regions}}); err != nil {
		t.Fatalf("%s: rewrite: %v", name, err)
	}
	if after := portrait(t, full); after != before {
		t.Errorf("%s: was %s, is %s", name, before, after)
	}
	for _, i := range []struct {
		edit.Intent
		base []byte
	}{{edit.Intent{Path: "f", Base: again.Digest, Regions: regions}, again.raw}, {edited, text.raw}} {
		back, err := i.Invert(i.base)
		if err == nil {
			_, err = w.Write([]edit.Intent{back})
		}
		if err != nil {
			t.Fatalf("%s: take back: %v", name, err)
		}
	}
	if got := onDisk(t, w, "f"); got != raw {
		t.Errorf("%s: taken back, it holds %q, not %q", name, got, raw)
	}
	if after := portrait(t, full); after != before {
		t.Errorf("%s: taken back, it was %s, is %s", name, before, after)
	}
	return true
}
