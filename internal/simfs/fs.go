package simfs

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/landfast/landfast/internal/fsops"
)

// Model says what a filesystem promises beyond POSIX.
type Model struct {
	Name        string
	SplitRename bool // a rename may persist as link and unlink separately, both names or only the new one first
	Journal     bool // directory operations persist in order, and any sync commits all earlier ones
	NoDirSync   bool // a directory sync answers EINVAL and does nothing
	NoNewRename bool // a no-replace rename answers EINVAL
}

// The models.
var (
	Weak    = Model{Name: "weak"}
	Weakest = Model{Name: "weakest", SplitRename: true}
	Journal = Model{Name: "journal", Journal: true}
)

// Models are those that every durable operation must survive.
var Models = []Model{Weak, Weakest, Journal}

// FS is the filesystem. Its methods are safe for concurrent use.
type FS struct {
	model Model

	mu      sync.Mutex // guards everything below
	root    *node
	handles map[fsops.Handle]*handle
	next    fsops.Handle
	nextIno uint64
	now     time.Time
	pending []*dirOp // of all directories, oldest first
	space   int64    // bytes left; negative: no limit
	// SyncError, if set, is asked before each file sync. When it answers an error,
	// the unsynced data is lost although reads still show it, and the next sync
	// succeeds: what Linux does (https://wiki.postgresql.org/wiki/Fsync_Errors).
	SyncError func() error
}

type node struct {
	ino    uint64
	kind   fsops.Kind
	mtime  time.Time
	nlink  int
	locks  map[fsops.Handle]bool // handle → shared
	target string                // of a link

	data    []byte // live
	durable []byte
	pend    []write // not yet durable, oldest first
	mode    fs.FileMode
	modeDur fs.FileMode

	entries map[string]*node // live, of a directory
	stable  map[string]*node // durable
}

type write struct {
	off  int64
	data []byte
}

// dirOp is one change of one directory: name gone, and/or name pointing to n.
type dirOp struct {
	dir  *node
	del  string
	set  string
	node *node
	// after is the operation that must persist for this one to persist by chance:
	// the old name of a rename goes only once the new one is there. Syncing the
	// old name's directory alone is another matter: POSIX promises nothing of the
	// other directory then, and the model takes it at its word.
	after *dirOp
	done  bool // durable
}

type handle struct {
	n     *node
	path  string
	write bool
}

// New is an empty filesystem.
func New(m Model) *FS {
	f := &FS{model: m, handles: map[fsops.Handle]*handle{}, next: 1000, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), space: -1}
	f.root = f.newNode(fsops.Dir, 0o755)
	return f
}

func (f *FS) newNode(k fsops.Kind, mode fs.FileMode) *node {
	f.nextIno++
	f.now = f.now.Add(time.Millisecond)
	n := &node{ino: f.nextIno, kind: k, mode: mode, modeDur: mode, mtime: f.now, nlink: 1}
	if k == fsops.Dir {
		n.entries, n.stable = map[string]*node{}, map[string]*node{}
	}
	return n
}

// SetSpace limits the bytes that can still be written; then ENOSPC.
func (f *FS) SetSpace(bytes int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.space = bytes
}

// OpenHandles is how many handles are open: a leak check.
func (f *FS) OpenHandles() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.handles)
}

func (f *FS) open(n *node, p string, w bool) fsops.Handle {
	f.next++
	f.handles[f.next] = &handle{n: n, path: p, write: w}
	return f.next
}

func (f *FS) dir(h fsops.Handle) (*node, error) {
	x, ok := f.handles[h]
	if !ok {
		return nil, syscall.EBADF
	}
	if x.n.kind != fsops.Dir {
		return nil, syscall.ENOTDIR
	}
	return x.n, nil
}

func (f *FS) file(h fsops.Handle) (*handle, error) {
	x, ok := f.handles[h]
	if !ok {
		return nil, syscall.EBADF
	}
	return x, nil
}

func child(d *node, name string) (*node, error) {
	n, ok := d.entries[name]
	if !ok {
		return nil, syscall.ENOENT
	}
	return n, nil
}

// OpenRoot opens a directory by absolute path.
func (f *FS) OpenRoot(p string) (fsops.Handle, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.walk(f.root, strings.Trim(path.Clean(strings.ReplaceAll(p, "\\", "/")), "/"))
	if err != nil {
		return fsops.None, err
	}
	return f.open(n, ".", false), nil
}

func (f *FS) walk(n *node, rel string) (*node, error) {
	if rel == "" || rel == "." {
		return n, nil
	}
	for e := range strings.SplitSeq(rel, "/") {
		next, err := child(n, e)
		if err != nil {
			return nil, err
		}
		switch next.kind {
		case fsops.Dir:
		case fsops.Symlink:
			return nil, syscall.ELOOP
		default:
			return nil, syscall.ENOTDIR
		}
		n = next
	}
	return n, nil
}

// OpenDir opens a directory below another one.
func (f *FS) OpenDir(h fsops.Handle, rel string) (fsops.Handle, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, err := f.dir(h)
	if err != nil {
		return fsops.None, err
	}
	n, err := f.walk(d, rel)
	if err != nil {
		return fsops.None, err
	}
	return f.open(n, path.Join(f.handles[h].path, rel), false), nil
}

// Mkdir makes a directory.
func (f *FS) Mkdir(h fsops.Handle, name string, perm fs.FileMode) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, err := f.dir(h)
	if err != nil {
		return err
	}
	if _, taken := d.entries[name]; taken {
		return syscall.EEXIST
	}
	f.set(d, name, f.newNode(fsops.Dir, perm))
	return nil
}

// set and unset change a directory, live now and durable later.
func (f *FS) set(d *node, name string, n *node) {
	d.entries[name] = n
	f.pending = append(f.pending, &dirOp{dir: d, set: name, node: n})
}

func (f *FS) unset(d *node, name string) {
	delete(d.entries, name)
	f.pending = append(f.pending, &dirOp{dir: d, del: name})
}

// CreateExcl creates a file.
func (f *FS) CreateExcl(h fsops.Handle, name string, perm fs.FileMode) (fsops.Handle, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.create(h, name, perm)
}

func (f *FS) create(h fsops.Handle, name string, perm fs.FileMode) (fsops.Handle, error) {
	d, err := f.dir(h)
	if err != nil {
		return fsops.None, err
	}
	if _, taken := d.entries[name]; taken {
		return fsops.None, syscall.EEXIST
	}
	n := f.newNode(fsops.Regular, perm&^0o022)
	f.set(d, name, n)
	return f.open(n, path.Join(f.handles[h].path, name), true), nil
}

// OpenFile opens an existing entry, or makes a file where the mode says so.
func (f *FS) OpenFile(h fsops.Handle, name string, mode fsops.OpenMode, perm fs.FileMode) (fsops.Handle, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, err := f.dir(h)
	if err != nil {
		return fsops.None, err
	}
	n, err := child(d, name)
	if err != nil {
		if mode == fsops.CreateReadWrite {
			return f.create(h, name, perm)
		}
		return fsops.None, err
	}
	if n.kind == fsops.Symlink {
		return fsops.None, syscall.ELOOP
	}
	if n.kind == fsops.Dir && mode != fsops.Read {
		return fsops.None, syscall.EISDIR
	}
	return f.open(n, path.Join(f.handles[h].path, name), mode != fsops.Read), nil
}

func info(n *node) fsops.Info {
	return fsops.Info{
		ID: fsops.ID{Dev: 1, Ino: [2]uint64{n.ino}}, Kind: n.kind, Mode: n.mode,
		Size: int64(len(n.data)), Mtime: n.mtime, Nlink: uint64(n.nlink),
	}
}

// Stat tells about an open file.
func (f *FS) Stat(h fsops.Handle) (fsops.Info, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	x, err := f.file(h)
	if err != nil {
		return fsops.Info{}, err
	}
	return info(x.n), nil
}

// Lstat tells about an entry.
func (f *FS) Lstat(h fsops.Handle, name string) (fsops.Info, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, err := f.dir(h)
	if err != nil {
		return fsops.Info{}, err
	}
	n, err := child(d, name)
	if err != nil {
		return fsops.Info{}, err
	}
	return info(n), nil
}

// List gives the entries, sorted so that runs repeat.
func (f *FS) List(h fsops.Handle, limit int) ([]fsops.Entry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, err := f.dir(h)
	if err != nil {
		return nil, err
	}
	var es []fsops.Entry
	for _, name := range names(d.entries) {
		if len(es) > limit {
			break
		}
		es = append(es, fsops.Entry{Name: name, Kind: d.entries[name].kind})
	}
	return es, nil
}

func names(m map[string]*node) []string {
	out := make([]string, 0, len(m))
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// FSType is "model", which fsx takes for a durable filesystem.
func (f *FS) FSType(fsops.Handle) (string, error) { return "model", nil }

// Close closes a handle and gives up its lock.
func (f *FS) Close(h fsops.Handle) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	x, err := f.file(h)
	if err != nil {
		return err
	}
	delete(x.n.locks, h)
	delete(f.handles, h)
	return nil
}

// TryLock is a lock that the handle holds until Unlock or Close.
func (f *FS) TryLock(h fsops.Handle, shared bool) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	x, err := f.file(h)
	if err != nil {
		return false, err
	}
	for other, s := range x.n.locks {
		if other != h && !(s && shared) {
			return false, nil
		}
	}
	if x.n.locks == nil {
		x.n.locks = map[fsops.Handle]bool{}
	}
	x.n.locks[h] = shared
	return true, nil
}

// Unlock gives it back.
func (f *FS) Unlock(h fsops.Handle) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	x, err := f.file(h)
	if err != nil {
		return err
	}
	delete(x.n.locks, h)
	return nil
}

var (
	_ fsops.Table  = (*FS)(nil)
	_ fsops.Locker = (*FS)(nil)
)

// Tree lists what is there, live, a line an entry, for comparing.
func (f *FS) Tree() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var b strings.Builder
	f.tree(&b, f.root, "")
	return b.String()
}

func (f *FS) tree(b *strings.Builder, n *node, at string) {
	for _, name := range names(n.entries) {
		c := n.entries[name]
		p := path.Join(at, name)
		switch c.kind {
		case fsops.Dir:
			fmt.Fprintf(b, "%s/\n", p)
			f.tree(b, c, p)
		case fsops.Symlink:
			fmt.Fprintf(b, "%s -> %s\n", p, c.target)
		default:
			fmt.Fprintf(b, "%s %o %q\n", p, c.mode, c.data)
		}
	}
}
