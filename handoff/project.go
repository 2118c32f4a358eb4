package handoff

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/handoff/gitinfo"
	"github.com/landfast/landfast/handoff/ledger"
	"github.com/landfast/landfast/internal/fsops"
	"github.com/landfast/landfast/lockx"
)

// Options of a [Project]. The zero value is right for a command.
type Options struct {
	// LockTimeout bounds the wait for another writer; default 10 s, negative:
	// one try.
	LockTimeout time.Duration
	// Now is the clock of recorded_at; default time.Now.
	Now func() time.Time
	// Git reads branch and head; default gitinfo.Read.
	Git func(ctx context.Context, root string) gitinfo.Info
	// Table is the filesystem; nil is the operating system's. For this module's tests.
	Table fsops.Table
}

// Project is one project's ledger. It keeps an open directory and nothing else,
// so every call sees the files as they are. It is safe for concurrent use.
type Project struct {
	root *fsx.Root
	o    Options
}

// Open opens the project at root, as [Find] gave it. It creates nothing and
// reads nothing.
func Open(root string, o Options) (*Project, error) {
	if o.LockTimeout == 0 {
		o.LockTimeout = 10 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Git == nil {
		o.Git = gitinfo.Read
	}
	var r *fsx.Root
	var err error
	if o.Table != nil {
		r, err = fsx.OpenRootOn(o.Table, root)
	} else {
		r, err = fsx.OpenRoot(root)
	}
	if err != nil {
		return nil, classify("open project", err)
	}
	return &Project{root: r, o: o}, nil
}

// Root is the project root's path.
func (p *Project) Root() string { return p.root.Path() }

// Close closes the project.
func (p *Project) Close() error { return p.root.Close() }

// at is the moment and the place of a change.
func (p *Project) at(ctx context.Context) (ledger.At, gitinfo.Info) {
	git := p.o.Git(ctx, p.root.Path())
	return ledger.At{Now: p.o.Now(), Branch: git.Branch, Head: git.Head}, git
}

// lock takes the ledger's lock in the open state directory.
func (p *Project) lock(ctx context.Context, dir *fsx.Dir, purpose string, timeout time.Duration) (*lockx.Handle, error) {
	return lockx.Acquire(ctx, dir, lockName, lockx.Options{Purpose: purpose, Timeout: timeout, Anchored: true})
}

// openState opens .landfast, or nil where it does not exist.
func (p *Project) openState() (*fsx.Dir, error) {
	d, err := p.root.Dir(stateDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return d, err
}

// openSub opens a directory below .landfast, or nil where it does not exist.
func (p *Project) openSub(name string) (*fsx.Dir, error) {
	d, err := p.root.Dir(stateDir + "/" + name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return d, err
}
