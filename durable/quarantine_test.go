package durable_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/landfast/landfast/durable"
	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/internal/testenv"
)

// quarantine makes a directory with a quarantine below it.
func quarantine(t *testing.T) (path string, d *fsx.Dir, q *durable.Quarantine) {
	t.Helper()
	path, d = realDir(t)
	root, err := fsx.OpenRoot(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	qd, _, err := root.MkdirAll("q", 0o700)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = qd.Close() })
	return path, d, durable.OpenQuarantine(qd)
}

// receiptOf reads the receipt that must lie beside an entry.
func receiptOf(t *testing.T, path string, p durable.Preserved) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path, "q", p.Name+".receipt.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got durable.Preserved
	if err := json.Unmarshal(data, &got); err != nil || got != p {
		t.Errorf("the receipt says %+v, %v; want %+v", got, err, p)
	}
}

func TestKeepStoresACopyAndLeavesTheOriginal(t *testing.T) {
	path, _, q := quarantine(t)
	seen := map[string]bool{}
	for _, content := range []string{"", "damaged", "damaged"} {
		p, err := q.Keep(ctx, "state.json", []byte(content), "not valid JSON", durable.Options{})
		if err != nil || p.Moved || p.Kind != "file" || p.Original != "state.json" || p.Reason != "not valid JSON" || p.Size != int64(len(content)) || p.At.IsZero() {
			t.Fatalf("%+v, %v", p, err)
		}
		if seen[p.Name] {
			t.Errorf("%s twice", p.Name)
		}
		seen[p.Name] = true
		if got, err := os.ReadFile(filepath.Join(path, "q", p.Name)); err != nil || string(got) != content {
			t.Errorf("kept %q, %v", got, err)
		}
		receiptOf(t, path, p)
	}
}

func TestMoveSetsAsideAnythingAsItIs(t *testing.T) {
	path, d, q := quarantine(t)
	if err := os.WriteFile(filepath.Join(path, "file"), []byte("bytes"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(path, "directory", "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, "directory", "sub", "f"), []byte("inside"), 0o600); err != nil {
		t.Fatal(err)
	}
	kinds := []string{"file", "directory"}
	err := os.Symlink("nowhere", filepath.Join(path, "link"))
	if info, lerr := os.Lstat(filepath.Join(path, "link")); lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
		kinds = append(kinds, "link")
	} else { // Wine says that it made one and did not
		t.Logf("without links: %v", err)
	}
	for _, kind := range kinds {
		p, err := q.Move(ctx, d, kind, "in the way", durable.Options{})
		if err != nil || !p.Moved || p.Kind != kind || p.Original != kind {
			t.Fatalf("%s: %+v, %v", kind, p, err)
		}
		if _, err := os.Lstat(filepath.Join(path, kind)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", kind, err)
		}
		receiptOf(t, path, p)
		moved := filepath.Join(path, "q", p.Name)
		switch kind {
		case "file":
			if got, err := os.ReadFile(moved); err != nil || string(got) != "bytes" {
				t.Errorf("%q, %v", got, err)
			}
		case "directory":
			if got, err := os.ReadFile(filepath.Join(moved, "sub", "f")); err != nil || string(got) != "inside" {
				t.Errorf("%q, %v", got, err)
			}
		case "link":
			if got, err := os.Readlink(moved); err != nil || got != "nowhere" {
				t.Errorf("%q, %v", got, err)
			}
		}
	}
	if _, err := q.Move(ctx, d, "missing", "why", durable.Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing entry: %v", err)
	}
}

// The name is shortened to 80 bytes, and the cut may fall behind a dot or a
// space, which no name may end in.
func TestLongNamesCanBeSetAsideWhereverTheyAreCut(t *testing.T) {
	path, d, q := quarantine(t)
	for _, name := range []string{
		strings.Repeat("a", 79) + ".json", strings.Repeat("a", 79) + " b", strings.Repeat("a", 76) + ".. .json",
		strings.Repeat("a", 200), strings.Repeat("ä", 60), strings.Repeat("a", 79) + "ä",
	} {
		if _, err := q.Keep(ctx, name, nil, "test", durable.Options{}); err != nil {
			t.Errorf("keep %s: %v", name, err)
		}
		if err := os.WriteFile(filepath.Join(path, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := q.Move(ctx, d, name, "test", durable.Options{}); err != nil {
			t.Errorf("move %s: %v", name, err)
		}
	}
}

// A receipt must not speak of a move that did not happen.
func TestAMoveThatFailsLeavesNoReceipt(t *testing.T) {
	if runtime.GOOS == "windows" {
		testenv.NotHere(t, "directories there can be renamed into themselves only through other errors")
	}
	path, _, q := quarantine(t)
	root, err := fsx.OpenRoot(path)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	d, err := root.Dir(".")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	// A directory can't move into itself.
	if _, err := q.Move(ctx, d, "q", "test", durable.Options{}); err == nil {
		t.Fatal("the quarantine swallowed itself")
	}
	if es, err := os.ReadDir(filepath.Join(path, "q")); err != nil || len(es) != 0 {
		t.Errorf("left %v, %v", es, err)
	}
}
