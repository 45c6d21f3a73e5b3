package power

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// A Disk is an image that is offered as a file of its own file system, through
// FUSE, so that whatever uses that file can be logged. A loop device over it is a
// disk whose log has the writes and the flushes of the file system on it.
type Disk struct {
	Log
	File string // to be used in place of the image

	image  *os.File
	server *fuse.Server
}

// Open offers image below dir, which must be empty. The disk must be closed when
// nobody uses it any more. It needs root.
func Open(dir, image string) (*Disk, error) {
	f, err := os.OpenFile(image, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	d := &Disk{File: filepath.Join(dir, "disk.img"), image: f}
	d.server, err = fs.Mount(dir, &folder{disk: d}, &fs.Options{MountOptions: fuse.MountOptions{
		DirectMountStrict: true, FsName: "belay-power", Name: "disk", MaxWrite: 1 << 20,
	}})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("offer %s: %w", image, err), f.Close())
	}
	return d, nil
}

// Close takes the file away. It fails if somebody still uses it, who is then left
// without.
func (d *Disk) Close() error {
	if err := d.server.Unmount(); err != nil {
		return errors.Join(err, syscall.Unmount(filepath.Dir(d.File), syscall.MNT_DETACH), d.image.Close())
	}
	d.server.Wait()
	return d.image.Close()
}

// A folder has one file, the disk.
type folder struct {
	fs.Inode
	disk *Disk
}

// OnAdd puts the file there.
func (f *folder) OnAdd(ctx context.Context) {
	f.AddChild("disk.img", f.NewPersistentInode(ctx, &file{disk: f.disk}, fs.StableAttr{Mode: syscall.S_IFREG}), true)
}

// A file is an image, each change of which is logged before it is answered.
type file struct {
	fs.Inode
	disk *Disk
}

func (f *file) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	info, err := f.disk.image.Stat()
	if err != nil {
		return fs.ToErrno(err)
	}
	out.Mode, out.Size = syscall.S_IFREG|0o600, uint64(info.Size())
	return fs.OK
}

func (f *file) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_KEEP_CACHE, fs.OK
}

func (f *file) Read(_ context.Context, _ fs.FileHandle, to []byte, at int64) (fuse.ReadResult, syscall.Errno) {
	n, err := f.disk.image.ReadAt(to, at)
	if err != nil && err != io.EOF {
		return nil, fs.ToErrno(err)
	}
	return fuse.ReadResultData(to[:n]), fs.OK
}

func (f *file) Write(_ context.Context, _ fs.FileHandle, data []byte, at int64) (uint32, syscall.Errno) {
	n, err := f.disk.image.WriteAt(data, at)
	f.disk.Write(data[:n], at)
	return uint32(n), fs.ToErrno(err)
}

func (f *file) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	f.disk.Flush()
	return fs.OK
}
