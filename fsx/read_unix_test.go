//go:build linux || darwin

package fsx

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/landfast/landfast/internal/fsops"
)

// growing is the operating system with a writer who appends before each read.
type growing struct {
	osTable
	path  string
	piece string
	times *int
}

func (g growing) ReadAt(h fsops.Handle, p []byte, off int64) (int, error) {
	if *g.times > 0 {
		*g.times--
		f, err := os.OpenFile(g.path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return 0, err
		}
		_, err = f.WriteString(g.piece)
		if err = errors.Join(err, f.Close()); err != nil {
			return 0, err
		}
	}
	return g.osTable.ReadAt(h, p, off)
}

func TestReadFileHoldsItsLimitWhileTheFileGrows(t *testing.T) {
	for _, row := range []struct {
		start, piece, times int
		max                 int64
		want                int // -1: too large
	}{
		{0, 0, 0, 0, 0},
		{1, 0, 0, 0, -1},
		{0, 10, 1, 0, -1},
		{10, 0, 0, 10, 10},
		{10, 0, 0, 9, -1},
		{10, 1, 1, 10, -1},
		{10, 5, 1, 15, 15},
		{10, 5, 1, 14, -1},
		{10, 1000, 3, 3010, 3010},
		{10, 1000, 3, 3009, -1},
		{10, 1000, 1000, 4000, -1}, // one that never stops
	} {
		t.Run(fmt.Sprintf("%d and %d times %d at most %d", row.start, row.times, row.piece, row.max), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			if err := os.WriteFile(path, []byte(strings.Repeat("x", row.start)), 0o600); err != nil {
				t.Fatal(err)
			}
			times := row.times
			root, err := OpenRootOn(growing{path: path, piece: strings.Repeat("x", row.piece), times: &times}, filepath.Dir(path))
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			d, err := root.Dir(".")
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			got, err := d.ReadFile("f", row.max)
			switch {
			case row.want < 0 && !errors.Is(err, ErrTooLarge):
				t.Errorf("%d bytes, %v", len(got), err)
			case row.want >= 0 && (err != nil || len(got) != row.want):
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
}

func TestListHoldsItsLimit(t *testing.T) {
	dir := t.TempDir()
	_, d := openDir(t, dir)
	const n = 1500 // more than one read of the directory gives
	for i := range n {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%0100d", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second starts at the beginning again
		es, err := d.List(n)
		seen := map[string]bool{}
		for _, e := range es {
			seen[e.Name] = true
			if e.Kind != fsops.Regular {
				t.Errorf("%s is %v", e.Name, e.Kind)
			}
		}
		if err != nil || len(seen) != n || len(es) != n {
			t.Errorf("%d entries, %d names, %v", len(es), len(seen), err)
		}
	}
	for _, limit := range []int{0, 1, n - 1} {
		if _, err := d.List(limit); !errors.Is(err, ErrTooMany) {
			t.Errorf("at most %d: %v", limit, err)
		}
	}
}

func TestInPlaceFilesAreCreatedReadAndWritten(t *testing.T) {
	dir := t.TempDir()
	_, d := openDir(t, dir)
	f, err := d.OpenInPlace("f", 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte("hello"), 3); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 8)
	if n, err := f.ReadAt(buf, 0); err != nil || string(buf[:n]) != "\x00\x00\x00hello" {
		t.Errorf("%q, %v", buf[:n], err)
	}
	if n, err := f.ReadAt(buf, 5); err == nil || n != 3 {
		t.Errorf("beyond the end: %d, %v", n, err)
	}
	for link, target := range map[string]string{"link": "f", "dangling": "new"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
		if _, err := d.OpenInPlace(link, 0o600); !errors.Is(err, ErrLink) {
			t.Errorf("%s: %v", link, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "new")); err == nil {
		t.Error("made a file through a link")
	}
}
