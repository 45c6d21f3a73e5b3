package toolbox

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/belay-agent/belay/internal/world/workspace"
)

// A foldFS is a file system that shows a directory and does not tell spellings of a
// name apart: it keeps the one that a file was made with.
type foldFS struct {
	root  string
	flags bool // renames that exchange, or replace nothing, can be done

	mu    sync.Mutex
	paths map[uint64]string // of inodes, below the directory
}

// A foldNode is a file, directory or link of it.
type foldNode struct {
	fs.Inode
	*foldFS
}

// What is not listed here would silently be missing.
var _ interface {
	fs.NodeLookuper
	fs.NodeGetattrer
	fs.NodeSetattrer
	fs.NodeOpener
	fs.NodeCreater
	fs.NodeReaddirer
	fs.NodeMkdirer
	fs.NodeUnlinker
	fs.NodeRmdirer
	fs.NodeRenamer
	fs.NodeLinker
	fs.NodeSymlinker
	fs.NodeReadlinker
	fs.NodeFsyncer
	fs.NodeStatfser
} = (*foldNode)(nil)

// folding mounts such a file system over a new directory, and returns where, and
// the directory.
func folding(t *testing.T, flags bool) (mounted, real string) {
	t.Helper()
	mounted, real = t.TempDir(), t.TempDir()
	root := &foldNode{foldFS: &foldFS{root: real, flags: flags, paths: make(map[uint64]string)}}
	server, err := fs.Mount(mounted, root, &fs.Options{MountOptions: fuse.MountOptions{DirectMountStrict: true, FsName: "fold", Name: "fold"}})
	if err != nil {
		t.Skipf("mount a file system of our own: %v", err)
	}
	t.Cleanup(func() {
		if err := server.Unmount(); err != nil {
			t.Error(err)
		}
	})
	return mounted, real
}

// where returns the path of an inode.
func (n *foldNode) where() string {
	if n.IsRoot() {
		return n.root
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.paths[n.StableAttr().Ino]
}

// entry returns the path of what name leads to in n, or would be made as.
func (n *foldNode) entry(name string) string {
	dir := n.where()
	found, _ := os.ReadDir(dir)
	for _, d := range found {
		if workspace.Folded(d.Name()) == workspace.Folded(name) {
			return filepath.Join(dir, d.Name())
		}
	}
	return filepath.Join(dir, name)
}

// child returns the inode of what is at a path.
func (n *foldNode) child(ctx context.Context, path string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	var st syscall.Stat_t
	if err := syscall.Lstat(path, &st); err != nil {
		return nil, fs.ToErrno(err)
	}
	n.mu.Lock()
	n.paths[st.Ino] = path
	n.mu.Unlock()
	out.Attr.FromStat(&st)
	return n.NewInode(ctx, &foldNode{foldFS: n.foldFS}, fs.StableAttr{Mode: st.Mode, Ino: st.Ino}), 0
}

func (n *foldNode) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.child(ctx, n.entry(name), out)
}

func (n *foldNode) Getattr(_ context.Context, f fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	var st syscall.Stat_t
	if f, ok := f.(fs.FileGetattrer); ok {
		return f.Getattr(context.Background(), out)
	}
	err := syscall.Lstat(n.where(), &st)
	out.Attr.FromStat(&st)
	return fs.ToErrno(err)
}

func (n *foldNode) Setattr(ctx context.Context, f fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if f, ok := f.(fs.FileSetattrer); ok {
		return f.Setattr(ctx, in, out)
	}
	path := n.where()
	if mode, ok := in.GetMode(); ok {
		if err := syscall.Chmod(path, mode); err != nil {
			return fs.ToErrno(err)
		}
	}
	if size, ok := in.GetSize(); ok {
		if err := syscall.Truncate(path, int64(size)); err != nil {
			return fs.ToErrno(err)
		}
	}
	return n.Getattr(ctx, nil, out)
}

func (n *foldNode) Open(_ context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	fd, err := syscall.Open(n.where(), int(flags)|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, 0, fs.ToErrno(err)
	}
	return fs.NewLoopbackFile(fd), fuse.FOPEN_DIRECT_IO, 0
}

func (n *foldNode) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	path := n.entry(name)
	fd, err := syscall.Open(path, int(flags)|syscall.O_CREAT|syscall.O_CLOEXEC, mode)
	if err != nil {
		return nil, nil, 0, fs.ToErrno(err)
	}
	inode, errno := n.child(ctx, path, out)
	return inode, fs.NewLoopbackFile(fd), fuse.FOPEN_DIRECT_IO, errno
}

func (n *foldNode) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	return fs.NewLoopbackDirStream(n.where())
}

func (n *foldNode) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	path := n.entry(name)
	if err := syscall.Mkdir(path, mode); err != nil {
		return nil, fs.ToErrno(err)
	}
	return n.child(ctx, path, out)
}

func (n *foldNode) Unlink(_ context.Context, name string) syscall.Errno {
	return fs.ToErrno(syscall.Unlink(n.entry(name)))
}

func (n *foldNode) Rmdir(_ context.Context, name string) syscall.Errno {
	return fs.ToErrno(syscall.Rmdir(n.entry(name)))
}

func (n *foldNode) Rename(_ context.Context, name string, to fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	if flags != 0 && !n.flags {
		return syscall.EINVAL
	}
	old, there := n.entry(name), to.(*foldNode).entry(newName)
	if err := unix.Renameat2(unix.AT_FDCWD, old, unix.AT_FDCWD, there, uint(flags)); err != nil {
		return fs.ToErrno(err)
	}
	for _, path := range []string{old, there} {
		var st syscall.Stat_t
		if syscall.Lstat(path, &st) == nil {
			n.mu.Lock()
			n.paths[st.Ino] = path
			n.mu.Unlock()
		}
	}
	return 0
}

func (n *foldNode) Link(ctx context.Context, target fs.InodeEmbedder, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	path := n.entry(name)
	if err := syscall.Link(target.(*foldNode).where(), path); err != nil {
		return nil, fs.ToErrno(err)
	}
	return n.child(ctx, path, out)
}

func (n *foldNode) Symlink(ctx context.Context, target, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	path := n.entry(name)
	if err := syscall.Symlink(target, path); err != nil {
		return nil, fs.ToErrno(err)
	}
	return n.child(ctx, path, out)
}

func (n *foldNode) Readlink(context.Context) ([]byte, syscall.Errno) {
	to, err := os.Readlink(n.where())
	return []byte(to), fs.ToErrno(err)
}

func (n *foldNode) Fsync(ctx context.Context, f fs.FileHandle, flags uint32) syscall.Errno {
	if f, ok := f.(fs.FileFsyncer); ok {
		return f.Fsync(ctx, flags)
	}
	return 0
}

func (n *foldNode) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	var st syscall.Statfs_t
	err := syscall.Statfs(n.where(), &st)
	out.FromStatfsT(&st)
	return fs.ToErrno(err)
}
