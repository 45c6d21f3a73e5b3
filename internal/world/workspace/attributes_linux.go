package workspace

import (
	"encoding/json"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributesOf returns what Raw.Attributes says, of an open file.
func attributesOf(f *os.File) string {
	var a attributes
	if info, err := f.Stat(); err == nil {
		if s, ok := info.Sys().(*syscall.Stat_t); ok && (int(s.Uid) != os.Geteuid() || int(s.Gid) != os.Getegid()) {
			a.Owner = &[2]int{int(s.Uid), int(s.Gid)}
		}
	}
	var value []byte
	for _, name := range ofUsers(f) {
		if value == nil {
			value = make([]byte, maxAttributes)
			a.Extra = make(map[string][]byte)
		}
		if size, err := unix.Fgetxattr(int(f.Fd()), name, value); err == nil {
			a.Extra[name] = append([]byte(nil), value[:size]...)
		}
	}
	b, err := json.Marshal(a)
	if err != nil {
		return Plain
	}
	return string(b)
}

// ofUsers returns the names of the extended attributes of f that are not the
// system's own.
func ofUsers(f *os.File) (names []string) {
	n, err := unix.Flistxattr(int(f.Fd()), nil)
	if err != nil || n <= 0 {
		return nil
	}
	b := make([]byte, maxAttributes)
	if n, err = unix.Flistxattr(int(f.Fd()), b); err != nil {
		return nil
	}
	for _, name := range splitNames(b[:n]) {
		if strings.HasPrefix(name, "user.") || name == "system.posix_acl_access" {
			names = append(names, name)
		}
	}
	return names
}

// setAttributes gives a file those attributes, and takes others of users from it,
// as far as it may.
func setAttributes(f *os.File, text string) {
	var a attributes
	if json.Unmarshal([]byte(text), &a) != nil {
		return
	}
	owner := [2]int{os.Geteuid(), os.Getegid()}
	if a.Owner != nil {
		owner = *a.Owner
	}
	if f.Chown(owner[0], owner[1]) != nil {
		_ = f.Chown(-1, owner[1])
	}
	for _, name := range ofUsers(f) {
		if _, ok := a.Extra[name]; !ok {
			_ = unix.Fremovexattr(int(f.Fd()), name)
		}
	}
	for name, value := range a.Extra {
		_ = unix.Fsetxattr(int(f.Fd()), name, value, 0)
	}
}
