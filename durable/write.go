package durable

import (
	"context"
	"errors"
	"path"

	"github.com/landfast/landfast/fsx"
)

// Options say how a file is written; see [fsx.Options]. The zero value keeps an
// existing file's mode, refuses a link, and flushes file and directory.
type Options = fsx.Options

// WriteFile puts data under rel, replacing what is there. After an error the
// old content stands unless the error is an [fsx.PublishError] whose State says
// otherwise; after power loss at any moment the name holds the old or the new
// content, whole.
func WriteFile(ctx context.Context, root *fsx.Root, rel string, data []byte, o Options) (fsx.Receipt, error) {
	return write(ctx, root, rel, data, o, (*File).Commit)
}

// Publish is WriteFile that never replaces: errors.Is(err, fs.ErrExist) where
// a file has the name, also when two processes race for it. A link, a directory
// or a device under the name is refused as by WriteFile (fsx.ErrLink, EISDIR,
// fsx.ErrNotRegular).
func Publish(ctx context.Context, root *fsx.Root, rel string, data []byte, o Options) (fsx.Receipt, error) {
	return write(ctx, root, rel, data, o, (*File).CommitNew)
}

func write(ctx context.Context, root *fsx.Root, rel string, data []byte, o Options,
	commit func(*File, context.Context) (fsx.Receipt, error),
) (fsx.Receipt, error) {
	f, err := Create(root, rel, o)
	if err != nil {
		return fsx.Receipt{}, err
	}
	if _, err := f.Write(data); err != nil {
		return fsx.Receipt{}, errors.Join(err, f.Abort())
	}
	return commit(f, ctx)
}

// File is content on its way to a name: it is invisible until Commit. It is for
// one goroutine.
type File struct {
	dir *fsx.Dir
	t   *fsx.Temp
}

// Create begins to write rel. End it with Commit, CommitNew or Abort; a process
// that dies in between leaves a staged file that [fsx.Dir.Sweep] removes.
func Create(root *fsx.Root, rel string, o Options) (*File, error) {
	dirPart, name := path.Split(rel)
	if dirPart == "" {
		dirPart = "."
	}
	dir, err := root.Dir(path.Clean(dirPart))
	if err != nil {
		return nil, &fsx.PublishError{Stage: fsx.StepOpen, Path: rel, Err: err}
	}
	t, err := dir.CreateTemp(name, o)
	if err != nil {
		_ = dir.Close()
		return nil, err
	}
	return &File{dir: dir, t: t}, nil
}

// Write appends. The first error is final: Commit fails with it.
func (f *File) Write(p []byte) (int, error) { return f.t.Write(p) }

// Commit makes the content durable and visible, replacing what is there.
func (f *File) Commit(ctx context.Context) (fsx.Receipt, error) {
	defer f.dir.Close()
	return f.t.Replace(ctx)
}

// CommitNew is Commit that never replaces (fs.ErrExist).
func (f *File) CommitNew(ctx context.Context) (fsx.Receipt, error) {
	defer f.dir.Close()
	return f.t.PublishNew(ctx)
}

// Abort drops the content; the name is untouched. After Commit it does nothing
// but answer nil.
func (f *File) Abort() error {
	err := f.t.Abort()
	_ = f.dir.Close()
	return err
}
