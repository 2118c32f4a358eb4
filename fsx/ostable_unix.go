//go:build linux || darwin

package fsx

import (
	"io/fs"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/landfast/landfast/internal/fsops"
)

// osTable is the operating system. It holds bare descriptors rather than
// *os.File: registering each with the runtime's poller would triple the system
// calls of a small write.
type osTable struct{}

const dirFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC

// again loops over EINTR. It is never put around a sync: a sync that was
// interrupted is a sync that failed.
func again(f func() error) error {
	for {
		if err := f(); err != unix.EINTR {
			return err
		}
	}
}

func openat(dir int, name string, flags int, perm fs.FileMode) (fsops.Handle, error) {
	for {
		fd, err := unix.Openat(dir, name, flags, uint32(perm))
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return fsops.None, err
		}
		return fsops.Handle(fd), nil
	}
}

func (osTable) OpenRoot(path string) (fsops.Handle, error) {
	return openat(unix.AT_FDCWD, path, dirFlags, 0)
}

func (osTable) OpenDir(dir fsops.Handle, rel string) (fsops.Handle, error) {
	return openBeneath(int(dir), rel)
}

// walkBeneath opens rel one element at a time, refusing links in each.
func walkBeneath(dir int, rel string) (fsops.Handle, error) {
	at := dir
	for e := range strings.SplitSeq(rel, "/") {
		h, err := openat(at, e, dirFlags|unix.O_NOFOLLOW, 0)
		if at != dir {
			_ = unix.Close(at)
		}
		if err != nil {
			return fsops.None, err
		}
		at = int(h)
	}
	return fsops.Handle(at), nil
}

func (osTable) Mkdir(dir fsops.Handle, name string, perm fs.FileMode) error {
	return again(func() error { return unix.Mkdirat(int(dir), name, uint32(perm)) })
}

func (osTable) CreateExcl(dir fsops.Handle, name string, perm fs.FileMode) (fsops.Handle, error) {
	return openat(int(dir), name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, perm)
}

func (osTable) OpenFile(dir fsops.Handle, name string, mode fsops.OpenMode, perm fs.FileMode) (fsops.Handle, error) {
	// O_NONBLOCK: opening a FIFO that lies in the way must not hang.
	flags := unix.O_RDONLY
	switch mode {
	case fsops.ReadWrite:
		flags = unix.O_RDWR
	case fsops.CreateReadWrite:
		flags = unix.O_RDWR | unix.O_CREAT
	}
	return openat(int(dir), name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, perm)
}

func (osTable) Stat(h fsops.Handle) (fsops.Info, error) {
	var st unix.Stat_t
	if err := again(func() error { return unix.Fstat(int(h), &st) }); err != nil {
		return fsops.Info{}, err
	}
	return infoOf(&st), nil
}

func (osTable) Lstat(dir fsops.Handle, name string) (fsops.Info, error) {
	var st unix.Stat_t
	err := again(func() error { return unix.Fstatat(int(dir), name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	if err != nil {
		return fsops.Info{}, err
	}
	return infoOf(&st), nil
}

func infoOf(st *unix.Stat_t) fsops.Info {
	i := fsops.Info{
		ID:    fsops.ID{Dev: uint64(st.Dev), Ino: [2]uint64{st.Ino}},
		Kind:  kindOfMode(uint32(st.Mode)),
		Mode:  fs.FileMode(st.Mode & 0o777),
		Size:  st.Size,
		Mtime: time.Unix(st.Mtim.Unix()),
		Nlink: uint64(st.Nlink),
		UID:   st.Uid,
		GID:   st.Gid,
	}
	m := uint32(st.Mode)
	if m&unix.S_ISUID != 0 {
		i.Mode |= fs.ModeSetuid
	}
	if m&unix.S_ISGID != 0 {
		i.Mode |= fs.ModeSetgid
	}
	if m&unix.S_ISVTX != 0 {
		i.Mode |= fs.ModeSticky
	}
	return i
}

func kindOfMode(m uint32) fsops.Kind {
	switch m & unix.S_IFMT {
	case unix.S_IFREG:
		return fsops.Regular
	case unix.S_IFDIR:
		return fsops.Dir
	case unix.S_IFLNK:
		return fsops.Symlink
	}
	return fsops.Other
}

func (osTable) List(dir fsops.Handle, max int) ([]fsops.Entry, error) {
	// A descriptor of its own: the position in dir is shared by all its users.
	h, err := openat(int(dir), ".", dirFlags, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(int(h))
	var es []fsops.Entry
	buf := make([]byte, 32<<10)
	for len(es) <= max {
		var n int
		err := again(func() (err error) { n, err = unix.ReadDirent(int(h), buf); return err })
		if err != nil {
			return nil, err
		}
		if n <= 0 {
			break
		}
		es = appendEntries(es, buf[:n], max+1)
	}
	return es, nil
}

func kindOfDirent(typ uint8) fsops.Kind {
	switch typ {
	case unix.DT_REG:
		return fsops.Regular
	case unix.DT_DIR:
		return fsops.Dir
	case unix.DT_LNK:
		return fsops.Symlink
	case unix.DT_UNKNOWN:
		return fsops.Unknown
	}
	return fsops.Other
}

func (osTable) ReadAt(h fsops.Handle, p []byte, off int64) (n int, err error) {
	err = again(func() (err error) { n, err = unix.Pread(int(h), p, off); return err })
	return max(n, 0), err
}

func (osTable) WriteAt(h fsops.Handle, p []byte, off int64) (n int, err error) {
	err = again(func() (err error) { n, err = unix.Pwrite(int(h), p, off); return err })
	return max(n, 0), err
}

func (osTable) Chmod(h fsops.Handle, mode fs.FileMode) error {
	return again(func() error { return unix.Fchmod(int(h), uint32(mode.Perm())) })
}

func (osTable) RenameNew(_, fromDir fsops.Handle, from string, toDir fsops.Handle, to string) error {
	return again(func() error { return renameNew(int(fromDir), from, int(toDir), to) })
}

func (osTable) Rename(_, fromDir fsops.Handle, from string, toDir fsops.Handle, to string) error {
	return again(func() error { return unix.Renameat(int(fromDir), from, int(toDir), to) })
}

func (osTable) Link(fromDir fsops.Handle, from string, toDir fsops.Handle, to string) error {
	return again(func() error { return unix.Linkat(int(fromDir), from, int(toDir), to, 0) })
}

func (osTable) Unlink(dir fsops.Handle, name string) error {
	return again(func() error { return unix.Unlinkat(int(dir), name, 0) })
}

func (osTable) Rmdir(dir fsops.Handle, name string) error {
	return again(func() error { return unix.Unlinkat(int(dir), name, unix.AT_REMOVEDIR) })
}

func (osTable) FSType(h fsops.Handle) (string, error) {
	var st unix.Statfs_t
	if err := again(func() error { return unix.Fstatfs(int(h), &st) }); err != nil {
		return "", err
	}
	return fsTypeOf(&st), nil
}

// Close does not loop: on Linux the descriptor is gone even after EINTR
// (close(2)), and a second close could hit somebody else's.
func (osTable) Close(h fsops.Handle) error {
	err := unix.Close(int(h))
	if err == unix.EINTR {
		err = nil
	}
	return err
}

var _ fsops.Table = osTable{}
