package fsx

import (
	"context"
	"io"
	"io/fs"

	"github.com/landfast/landfast/internal/fsops"
)

// File is an open regular file that is read, or changed in place (a lock file,
// a journal). On Windows it shares deletion, so an open File never stops
// anybody from replacing or removing the name.
type File struct {
	t    fsops.Table
	h    fsops.Handle
	path string
}

// OpenFile opens an existing regular file for reading. Errors: fs.ErrNotExist,
// [ErrLink], [ErrNotRegular]. It never blocks on a FIFO.
func (d *Dir) OpenFile(name string) (*File, error) {
	return d.open(name, fsops.Read, 0)
}

// OpenInPlace opens a regular file for reading and writing in place, creating
// it empty with perm (less the umask) where it is missing. The new name is not
// synced. Content written this way is not protected from power loss by this
// package: it is for files with their own format, such as locks and journals.
func (d *Dir) OpenInPlace(name string, perm fs.FileMode) (*File, error) {
	return d.open(name, fsops.CreateReadWrite, perm)
}

func (d *Dir) open(name string, mode fsops.OpenMode, perm fs.FileMode) (*File, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	var h fsops.Handle
	_, _, err := Retry{}.do(context.Background(), StepOpen, func() (err error) {
		h, err = d.t.OpenFile(d.h, name, mode, permOnly(perm))
		return err
	})
	if err != nil {
		return nil, pathError(StepOpen, d.join(name), d.explain(name, err))
	}
	f := &File{t: d.t, h: h, path: d.join(name)}
	info, err := d.t.Stat(h)
	if err == nil && info.Kind != fsops.Regular {
		err = wrongKind(info.Kind, fsops.Regular)
	}
	if err != nil {
		_ = f.Close()
		return nil, pathError(StepOpen, d.join(name), err)
	}
	return f, nil
}

// explain says of an entry that could not be opened whether it is a link or no
// regular file; the bare answer (ELOOP, EISDIR, errno 5) does not.
func (d *Dir) explain(name string, err error) error {
	if Classify(StepOpen, err) == NotFound {
		return err
	}
	info, serr := d.t.Lstat(d.h, name)
	if serr != nil || info.Kind == fsops.Regular {
		return err
	}
	return &elementError{at: "it", kind: wrongKind(info.Kind, fsops.Regular), err: err}
}

// Path is the path the file was opened by.
func (f *File) Path() string { return f.path }

// ReadAt is io.ReaderAt.
func (f *File) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		m, err := f.t.ReadAt(f.h, p[n:], off+int64(n))
		n += m
		if err != nil {
			return n, pathError(StepOpen, f.path, err)
		}
		if m == 0 {
			return n, io.EOF
		}
	}
	return n, nil
}

// WriteAt is io.WriterAt; short writes are continued.
func (f *File) WriteAt(p []byte, off int64) (n int, err error) {
	n, err = writeAll(f.t, f.h, p, off)
	return n, pathError(StepWrite, f.path, err)
}

// Stat tells about the open file.
func (f *File) Stat() (Info, error) {
	info, err := f.t.Stat(f.h)
	return info, pathError(StepStat, f.path, err)
}

// Sync makes the file's content durable. After an error the content on disk is
// unknown and a second Sync proves nothing: reopen and verify.
func (f *File) Sync() ([]Degradation, error) {
	ds, err := syncFile(f.t, f.h)
	return ds, pathError(StepSync, f.path, err)
}

// Close closes the file.
func (f *File) Close() error { return pathError(StepClose, f.path, f.t.Close(f.h)) }

// Handle gives the table and the handle below, for the packages of this module
// that lock the file. The handle belongs to f.
func (f *File) Handle() (fsops.Table, fsops.Handle) { return f.t, f.h }

// ReadFile reads a whole regular file of at most max bytes. Errors: those of
// [Dir.OpenFile] and [ErrTooLarge].
func (d *Dir) ReadFile(name string, max int64) ([]byte, error) {
	data, _, err := d.ReadFileInfo(name, max)
	return data, err
}

// ReadFileInfo is ReadFile that also says which file it read, so that a caller
// can recognise it later ([Dir.Remove]).
func (d *Dir) ReadFileInfo(name string, max int64) ([]byte, Info, error) {
	f, err := d.OpenFile(name)
	if err != nil {
		return nil, Info{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, Info{}, err
	}
	if info.Size > max {
		return nil, info, pathError(StepOpen, f.path, ErrTooLarge)
	}
	// One byte more than the size shows the end of a file that grew meanwhile.
	buf := make([]byte, info.Size+1)
	n := 0
	for {
		m, err := f.ReadAt(buf[n:], int64(n))
		n += m
		if err == io.EOF {
			return buf[:n], info, nil
		}
		if err != nil {
			return nil, info, err
		}
		if int64(n) > max {
			return nil, info, pathError(StepOpen, f.path, ErrTooLarge)
		}
		buf = append(buf, make([]byte, min(int64(len(buf)), max+1-int64(len(buf))))...)
	}
}

// writeAll writes p at off, continuing after short writes.
func writeAll(t fsops.Table, h fsops.Handle, p []byte, off int64) (n int, err error) {
	for n < len(p) {
		m, err := t.WriteAt(h, p[n:], off+int64(n))
		n += m
		if err != nil {
			return n, err
		}
		if m == 0 {
			return n, io.ErrShortWrite
		}
	}
	return n, nil
}

// syncFile flushes with the strongest mode the filesystem has. Falling to a
// weaker mode is no retry of a failed sync: the stronger one answered that it
// does not exist, and flushed nothing (golang/go#64215).
func syncFile(t fsops.Table, h fsops.Handle) ([]Degradation, error) {
	err := t.Sync(h, fsops.SyncFull)
	if err == nil || Classify(StepSync, err) != Unsupported {
		return nil, err
	}
	ds := []Degradation{{StepSync, err, "this filesystem can't flush the drive's cache"}}
	err = t.Sync(h, fsops.SyncBarrier)
	if err == nil || Classify(StepSync, err) != Unsupported {
		return ds, err
	}
	return ds, t.Sync(h, fsops.SyncPlain)
}
