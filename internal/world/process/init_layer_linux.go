package process

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// A layer is a directory that is read through, and what is written in it goes
// elsewhere.
type layer struct {
	At    string
	Upper string // where to
	Work  string // beside it, for the system
}

// overlays makes the layers of v. Where the system cannot, the directory stays
// as it is, to be read only.
func (v *view) overlays() (made []piece) {
	for _, l := range v.Over {
		real, err := filepath.EvalSymlinks(l.At)
		if err != nil || strings.ContainsAny(real+l.Upper, ":,\\") {
			continue
		}
		if tree, err := l.mount(real, v.User); err == nil {
			made = append(made, piece{tree, real})
		}
	}
	return made
}

func (l layer) mount(lower string, user bool) (tree int, err error) {
	fs, err := unix.Fsopen("overlay", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer unix.Close(fs)
	for _, o := range [][2]string{{"lowerdir", lower}, {"upperdir", l.Upper}, {"workdir", l.Work}} {
		if err := unix.FsconfigSetString(fs, o[0], o[1]); err != nil {
			return -1, err
		}
	}
	if user {
		if err := unix.FsconfigSetFlag(fs, "userxattr"); err != nil {
			return -1, err
		}
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, err
	}
	return unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
}
