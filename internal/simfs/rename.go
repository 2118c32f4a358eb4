package simfs

import (
	"syscall"

	"github.com/landfast/landfast/internal/fsops"
)

// Rename replaces.
func (f *FS) Rename(_, fh fsops.Handle, from string, th fsops.Handle, to string) error {
	return f.rename(fh, from, th, to, true)
}

// RenameNew does not.
func (f *FS) RenameNew(_, fh fsops.Handle, from string, th fsops.Handle, to string) error {
	if f.model.NoNewRename {
		return syscall.EINVAL
	}
	return f.rename(fh, from, th, to, false)
}

func (f *FS) rename(fh fsops.Handle, from string, th fsops.Handle, to string, replace bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	fd, td, n, err := f.source(fh, from, th)
	if err != nil {
		return err
	}
	if old, taken := td.entries[to]; taken {
		switch {
		case !replace:
			return syscall.EEXIST
		case old == n:
			return nil // rename(2): both names stay
		case old.kind == fsops.Dir && n.kind != fsops.Dir:
			return syscall.EISDIR
		case old.kind != fsops.Dir && n.kind == fsops.Dir:
			return syscall.ENOTDIR
		case old.kind == fsops.Dir && len(old.entries) > 0:
			return syscall.ENOTEMPTY
		}
		old.nlink--
	}
	if fd == td && !f.model.SplitRename {
		delete(fd.entries, from)
		td.entries[to] = n
		f.pending = append(f.pending, &dirOp{dir: fd, del: from, set: to, node: n})
		return nil
	}
	// Two directories, two places on disk: btrfs was measured to keep both names.
	f.set(td, to, n)
	set := f.pending[len(f.pending)-1]
	f.unset(fd, from)
	f.pending[len(f.pending)-1].after = set
	return nil
}

// source looks up what a rename or a link begins with.
func (f *FS) source(fh fsops.Handle, from string, th fsops.Handle) (fd, td, n *node, err error) {
	if fd, err = f.dir(fh); err == nil {
		td, err = f.dir(th)
	}
	if err == nil {
		n, err = child(fd, from)
	}
	return fd, td, n, err
}

// Link gives a file a second name.
func (f *FS) Link(fh fsops.Handle, from string, th fsops.Handle, to string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, td, n, err := f.source(fh, from, th)
	if err != nil {
		return err
	}
	if n.kind == fsops.Dir {
		return syscall.EPERM
	}
	if _, taken := td.entries[to]; taken {
		return syscall.EEXIST
	}
	n.nlink++
	f.set(td, to, n)
	return nil
}

// Unlink removes a name.
func (f *FS) Unlink(h fsops.Handle, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, err := f.dir(h)
	if err != nil {
		return err
	}
	n, err := child(d, name)
	if err != nil {
		return err
	}
	if n.kind == fsops.Dir {
		return syscall.EISDIR
	}
	n.nlink--
	f.unset(d, name)
	return nil
}

// Rmdir removes an empty directory.
func (f *FS) Rmdir(h fsops.Handle, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, err := f.dir(h)
	if err != nil {
		return err
	}
	n, err := child(d, name)
	switch {
	case err != nil:
		return err
	case n.kind != fsops.Dir:
		return syscall.ENOTDIR
	case len(n.entries) > 0:
		return syscall.ENOTEMPTY
	}
	f.unset(d, name)
	return nil
}
