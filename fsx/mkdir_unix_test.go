//go:build linux || darwin

package fsx

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestMkdirAllMakesWhatIsMissingAndRefusesWhatIsNoDirectory(t *testing.T) {
	dir := t.TempDir()
	for _, err := range []error{
		os.MkdirAll(filepath.Join(dir, "there/deep"), 0o755), os.WriteFile(filepath.Join(dir, "file"), nil, 0o600),
		os.Symlink("there", filepath.Join(dir, "link")), os.Symlink("../there", filepath.Join(dir, "there/back")), os.Symlink("nowhere", filepath.Join(dir, "dangling")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	root, _ := openDir(t, dir)
	for _, row := range []struct {
		rel     string
		pending int // parents that got a new entry
		want    error
		at      string
	}{
		{".", 0, nil, ""},
		{"there", 0, nil, ""},
		{"there/deep", 0, nil, ""},
		{"there/deep/a", 1, nil, ""},
		{"n1/n2/n3", 3, nil, ""},
		{"n1/n2/n3", 0, nil, ""},
		{"n1/n2/m3/m4", 2, nil, ""},
		{"file", 0, ErrNotDir, "file"},
		{"file/x", 0, ErrNotDir, "file"},
		{"link", 0, ErrLink, "link"},
		{"link/x", 0, ErrLink, "link"},
		{"there/back/x", 0, ErrLink, "there/back"},
		{"dangling/x/y", 0, ErrLink, "dangling"},
		{"a/../b", 0, ErrBadName, ".."},
		{"/a", 0, ErrBadName, ""},
		{"", 0, ErrBadName, ""},
	} {
		d, pending, err := root.MkdirAllUnsynced(row.rel, 0o750)
		if len(pending) != row.pending || !errors.Is(err, row.want) || (err == nil) != (row.want == nil) {
			t.Errorf("%q: %d pending, %v; want %d, %v", row.rel, len(pending), err, row.pending, row.want)
		}
		if err != nil && !strings.Contains(err.Error(), row.at) {
			t.Errorf("%q: %v does not name %s", row.rel, err, row.at)
		}
		for i, p := range pending {
			if i > 0 && !strings.HasPrefix(p.Path(), pending[i-1].Path()) {
				t.Errorf("%q: %s comes after %s", row.rel, p.Path(), pending[i-1].Path())
			}
			if _, err := p.Sync(); err != nil {
				t.Error(err)
			}
			_ = p.Close()
		}
		if d != nil {
			if info, err := os.Stat(filepath.Join(dir, row.rel)); err != nil || !info.IsDir() || row.pending > 0 && info.Mode().Perm()&^0o750 != 0 {
				t.Errorf("%q: %v, %v", row.rel, info, err)
			}
			_ = d.Close()
		}
	}
	for _, name := range []string{"nowhere", "there/x", "a", "b"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s was made: %v", name, err)
		}
	}
}

func TestMkdirAllMayBeDoneByManyAtOnce(t *testing.T) {
	root, _ := openDir(t, t.TempDir())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			d, ds, err := root.MkdirAll("a/b/c/d", 0o700)
			if err != nil || len(ds) > 0 && d.Guarantee() == Durable {
				t.Errorf("%v, %v", ds, err)
				return
			}
			_ = d.Close()
		})
	}
	wg.Wait()
}
