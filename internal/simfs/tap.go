package simfs

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/landfast/landfast/internal/fsops"
)

// Op is one operation as it passed the tap.
type Op struct {
	Kind string // create, open, mkdir, write, chmod, sync, syncdir, rename, renamenew, link, unlink, rmdir, stat, lstat, list, read, opendir, openroot, fstype, close
	Text string // the whole line, with what changes from run to run made the same
}

// Changes reports whether the operation can change what a crash leaves.
func (o Op) Changes() bool {
	switch o.Kind {
	case "create", "open", "mkdir", "write", "chmod", "sync", "syncdir", "rename", "renamenew", "link", "unlink", "rmdir":
		return true
	}
	return false
}

// Action is what a tap does instead of passing an operation on.
type Action struct {
	Err  error // answer this, without doing it
	Skip bool  // answer success, without doing it
}

// Tap stands between code and a table. Its operations are counted from 0.
type Tap struct {
	t fsops.Table
	// Before is called before each operation, if set.
	Before func(k int, op Op) Action

	mu    sync.Mutex // guards the rest
	n     int
	log   []Op
	paths map[fsops.Handle]string
}

// NewTap taps t.
func NewTap(t fsops.Table) *Tap { return &Tap{t: t, paths: map[fsops.Handle]string{}} }

// Ops is what has passed so far.
func (t *Tap) Ops() []Op {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]Op(nil), t.log...)
}

// Trace is the operations that change something, a line each: the golden form.
func (t *Tap) Trace() string {
	var b strings.Builder
	for _, op := range t.Ops() {
		if op.Changes() {
			b.WriteString(op.Text + "\n")
		}
	}
	return b.String()
}

var volatileParts = []struct {
	re  *regexp.Regexp
	put string
}{
	{regexp.MustCompile(`\.lf-(.*?)~[^/ ]*\.tmp`), ".lf-$1*.tmp"},
	{regexp.MustCompile(`(r\d+)-[0-9a-f]{64}\.json`), "$1-*.json"},
	{regexp.MustCompile(`\d{8}T\d{6}Z-[0-9a-f]{16}-`), "TIME-"},
}

func steady(s string) string {
	for _, v := range volatileParts {
		s = v.re.ReplaceAllString(s, v.put)
	}
	return s
}

func (t *Tap) path(h fsops.Handle) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.paths[h]
}

func (t *Tap) at(h fsops.Handle, name string) string { return path.Join(t.path(h), name) }

func (t *Tap) opened(h fsops.Handle, err error, p string) {
	if err == nil {
		t.mu.Lock()
		t.paths[h] = p
		t.mu.Unlock()
	}
}

// pass asks Before, and does the operation unless told otherwise.
func (t *Tap) pass(kind, text string, do func() error) error {
	op := Op{Kind: kind, Text: steady(strings.TrimSpace(kind + " " + text))}
	t.mu.Lock()
	k := t.n
	t.n++
	t.log = append(t.log, op)
	before := t.Before
	t.mu.Unlock()
	if before != nil {
		if a := before(k, op); a.Err != nil || a.Skip {
			return a.Err
		}
	}
	return do()
}

// The methods of fsops.Table.

func (t *Tap) OpenRoot(p string) (h fsops.Handle, err error) {
	h = fsops.None
	err = t.pass("openroot", "", func() (err error) { h, err = t.t.OpenRoot(p); return err })
	t.opened(h, err, ".")
	return h, err
}

func (t *Tap) OpenDir(d fsops.Handle, rel string) (h fsops.Handle, err error) {
	h = fsops.None
	err = t.pass("opendir", t.at(d, rel), func() (err error) { h, err = t.t.OpenDir(d, rel); return err })
	t.opened(h, err, t.at(d, rel))
	return h, err
}

func (t *Tap) Mkdir(d fsops.Handle, name string, perm fs.FileMode) error {
	return t.pass("mkdir", t.at(d, name), func() error { return t.t.Mkdir(d, name, perm) })
}

func (t *Tap) CreateExcl(d fsops.Handle, name string, perm fs.FileMode) (h fsops.Handle, err error) {
	h = fsops.None
	err = t.pass("create", t.at(d, name), func() (err error) { h, err = t.t.CreateExcl(d, name, perm); return err })
	t.opened(h, err, t.at(d, name))
	return h, err
}

func (t *Tap) OpenFile(d fsops.Handle, name string, mode fsops.OpenMode, perm fs.FileMode) (h fsops.Handle, err error) {
	h = fsops.None
	kind := "read-open"
	if mode != fsops.Read {
		kind = "open"
	}
	err = t.pass(kind, t.at(d, name), func() (err error) { h, err = t.t.OpenFile(d, name, mode, perm); return err })
	t.opened(h, err, t.at(d, name))
	return h, err
}

func (t *Tap) Stat(h fsops.Handle) (i fsops.Info, err error) {
	err = t.pass("stat", t.path(h), func() (err error) { i, err = t.t.Stat(h); return err })
	return i, err
}

func (t *Tap) Lstat(d fsops.Handle, name string) (i fsops.Info, err error) {
	err = t.pass("lstat", t.at(d, name), func() (err error) { i, err = t.t.Lstat(d, name); return err })
	return i, err
}

func (t *Tap) List(d fsops.Handle, limit int) (es []fsops.Entry, err error) {
	err = t.pass("list", t.path(d), func() (err error) { es, err = t.t.List(d, limit); return err })
	return es, err
}

func (t *Tap) ReadAt(h fsops.Handle, p []byte, off int64) (n int, err error) {
	err = t.pass("read", t.path(h), func() (err error) { n, err = t.t.ReadAt(h, p, off); return err })
	return n, err
}

func (t *Tap) WriteAt(h fsops.Handle, p []byte, off int64) (n int, err error) {
	n = len(p) // what a skipped write claims
	err = t.pass("write", t.path(h), func() (err error) { n, err = t.t.WriteAt(h, p, off); return err })
	if err != nil {
		n = 0
	}
	return n, err
}

func (t *Tap) Chmod(h fsops.Handle, mode fs.FileMode) error {
	return t.pass("chmod", fmt.Sprintf("%s %04o", t.path(h), mode), func() error { return t.t.Chmod(h, mode) })
}

func (t *Tap) Sync(h fsops.Handle, mode fsops.SyncMode) error {
	return t.pass("sync", t.path(h), func() error { return t.t.Sync(h, mode) })
}

func (t *Tap) SyncDir(d fsops.Handle) error {
	return t.pass("syncdir", t.path(d), func() error { return t.t.SyncDir(d) })
}

func (t *Tap) Rename(file, fd fsops.Handle, from string, td fsops.Handle, to string) error {
	return t.pass("rename", t.at(fd, from)+" -> "+t.at(td, to), func() error { return t.t.Rename(file, fd, from, td, to) })
}

func (t *Tap) RenameNew(file, fd fsops.Handle, from string, td fsops.Handle, to string) error {
	return t.pass("renamenew", t.at(fd, from)+" -> "+t.at(td, to), func() error { return t.t.RenameNew(file, fd, from, td, to) })
}

func (t *Tap) Link(fd fsops.Handle, from string, td fsops.Handle, to string) error {
	return t.pass("link", t.at(fd, from)+" -> "+t.at(td, to), func() error { return t.t.Link(fd, from, td, to) })
}

func (t *Tap) Unlink(d fsops.Handle, name string) error {
	return t.pass("unlink", t.at(d, name), func() error { return t.t.Unlink(d, name) })
}

func (t *Tap) Rmdir(d fsops.Handle, name string) error {
	return t.pass("rmdir", t.at(d, name), func() error { return t.t.Rmdir(d, name) })
}

func (t *Tap) FSType(h fsops.Handle) (s string, err error) {
	err = t.pass("fstype", t.path(h), func() (err error) { s, err = t.t.FSType(h); return err })
	return s, err
}

// Close closes, whatever it answers: a failed close leaves no open file either.
func (t *Tap) Close(h fsops.Handle) error {
	p := t.path(h)
	cerr := error(nil)
	err := t.pass("close", p, func() error { return nil })
	cerr = t.t.Close(h)
	if err == nil {
		err = cerr
	}
	return err
}

// TryLock and Unlock pass through uncounted where the table has locks.
func (t *Tap) TryLock(h fsops.Handle, shared bool) (bool, error) {
	return t.t.(fsops.Locker).TryLock(h, shared)
}

func (t *Tap) Unlock(h fsops.Handle) error { return t.t.(fsops.Locker).Unlock(h) }

var (
	_ fsops.Table  = (*Tap)(nil)
	_ fsops.Locker = (*Tap)(nil)
)
