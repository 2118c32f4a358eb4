package durable_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/landfast/landfast/durable"
	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/internal/testenv"
)

// A quarantine on another filesystem would need a copy; the move is refused,
// the original stays as it is, and no receipt speaks of it.
func TestMoveToAnotherFilesystemLeavesTheOriginal(t *testing.T) {
	shm, _, q := volatileDir(t)
	path, d := realDir(t)
	if d.FSType() == q.FSType() {
		testenv.Skip(t, testenv.Tmpfs, "the temporary directory is a tmpfs too")
	}
	for _, err := range []error{
		os.WriteFile(filepath.Join(path, "file"), []byte("bytes"), 0o600), os.Mkdir(filepath.Join(path, "directory"), 0o700),
		os.WriteFile(filepath.Join(path, "directory", "f"), []byte("inside"), 0o600), os.Symlink("nowhere", filepath.Join(path, "link")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"file", "directory", "link"} {
		_, err := durable.OpenQuarantine(q).Move(ctx, d, name, "why", durable.Options{})
		var pe *fsx.PublishError
		if !errors.Is(err, syscall.EXDEV) || !errors.As(err, &pe) || pe.State != fsx.NotPublished {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := os.Readlink(filepath.Join(path, "link")); err != nil || got != "nowhere" {
		t.Errorf("the link leads to %q, %v", got, err)
	}
	if err := os.Remove(filepath.Join(path, "link")); err != nil {
		t.Fatal(err)
	}
	wantTree(t, path, map[string]string{"file": "bytes", "directory/f": "inside"})
	wantTree(t, shm, map[string]string{})
}

// D6: a directory that only has to be synced counts for the promise, too.
func TestASequenceIsWorthItsWeakestDirectory(t *testing.T) {
	_, _, weak := volatileDir(t)
	path, d := realDir(t)
	if d.Guarantee() == fsx.None {
		testenv.Skip(t, testenv.Tmpfs, "the temporary directory promises nothing either")
	}
	also := []*fsx.Dir{weak}
	write := []durable.Write{{Dir: d, Name: "f", Data: after}}
	if _, err := durable.Sequence(ctx, write, also, durable.Options{Need: fsx.Ordered}); !errors.Is(err, fsx.ErrNeed) {
		t.Errorf("with a need: %v", err)
	}
	wantTree(t, path, map[string]string{})
	if r, err := durable.Sequence(ctx, write, also, durable.Options{}); err != nil || r.Guarantee != fsx.None {
		t.Errorf("%v, %v", r.Guarantee, err)
	}
	if r, err := durable.Sequence(ctx, write, nil, durable.Options{Need: fsx.Ordered}); err != nil || r.Guarantee < fsx.Ordered {
		t.Errorf("alone: %v, %v", r.Guarantee, err)
	}
}
