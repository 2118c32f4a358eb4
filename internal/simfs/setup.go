package simfs

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/landfast/landfast/internal/fsops"
)

// WriteFile puts content there as if it had always been: durable at once. The
// directories on the way are made. It is for setting up a test.
func (f *FS) WriteFile(p string, data []byte, mode fs.FileMode) {
	n := f.plant(p, fsops.Regular)
	n.data, n.durable, n.pend = slices.Clone(data), slices.Clone(data), nil
	n.mode, n.modeDur = mode, mode
}

// MkdirAll makes directories, durable at once.
func (f *FS) MkdirAll(p string) { f.plant(p, fsops.Dir) }

// Symlink makes a link, durable at once.
func (f *FS) Symlink(p, target string) { f.plant(p, fsops.Symlink).target = target }

func (f *FS) plant(p string, k fsops.Kind) *node {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := f.root
	dirs, base := path.Split(strings.Trim(p, "/"))
	for e := range strings.SplitSeq(strings.Trim(dirs, "/"), "/") {
		if e != "" {
			d = f.plantIn(d, e, fsops.Dir)
		}
	}
	return f.plantIn(d, base, k)
}

func (f *FS) plantIn(d *node, name string, k fsops.Kind) *node {
	if n, ok := d.entries[name]; ok && n.kind == k {
		return n
	}
	n := f.newNode(k, 0o755)
	d.entries[name], d.stable[name] = n, n
	return n
}

// ReadFile gives the live content of a file by path.
func (f *FS) ReadFile(p string) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	dirs, base := path.Split(strings.Trim(p, "/"))
	d, err := f.walk(f.root, strings.Trim(dirs, "/"))
	if err != nil {
		return nil, err
	}
	n, err := child(d, base)
	if err != nil {
		return nil, err
	}
	if n.kind != fsops.Regular {
		return nil, syscall.EINVAL
	}
	return slices.Clone(n.data), nil
}

// Names lists the live entries of a directory by path.
func (f *FS) Names(p string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, err := f.walk(f.root, strings.Trim(p, "/"))
	if err != nil {
		return nil
	}
	return names(d.entries)
}
