package durable_test

import (
	"errors"
	"os"
	"testing"

	"github.com/landfast/landfast/durable"
	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/internal/testenv"
)

// volatileDir is a directory in memory that every Linux user may write to.
func volatileDir(t *testing.T) (string, *fsx.Root, *fsx.Dir) {
	t.Helper()
	path, err := os.MkdirTemp("/dev/shm", "landfast-*")
	if err != nil {
		testenv.Skip(t, testenv.Tmpfs, err.Error())
	}
	t.Cleanup(func() { _ = os.RemoveAll(path) })
	root, err := fsx.OpenRoot(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	d, err := root.Dir(".")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	if d.FSType() != "tmpfs" {
		testenv.Skip(t, testenv.Tmpfs, "/dev/shm is "+d.FSType())
	}
	return path, root, d
}

// D6: nothing on tmpfs survives power loss, and no receipt may say so, not even
// for a file that was there already.
func TestNoReceiptPromisesAnythingOnTmpfs(t *testing.T) {
	_, root, d := volatileDir(t)
	s := durable.OpenSnapshots(d)
	for _, step := range []struct {
		name string
		do   func() (fsx.Receipt, error)
	}{
		{"write-file", func() (fsx.Receipt, error) { return durable.WriteFile(ctx, root, "f", after, durable.Options{}) }},
		{"publish", func() (fsx.Receipt, error) { return durable.Publish(ctx, root, "g", after, durable.Options{}) }},
		{"new snapshot", func() (fsx.Receipt, error) { _, r, err := s.Put(ctx, 1, after, durable.Options{}); return r, err }},
		{"snapshot that is there", func() (fsx.Receipt, error) { _, r, err := s.Put(ctx, 1, after, durable.Options{}); return r, err }},
	} {
		if r, err := step.do(); err != nil || r.Guarantee != fsx.None {
			t.Errorf("%s: %v, %v", step.name, r.Guarantee, err)
		}
	}
}

// A need that the filesystem can't meet is refused before any name appears.
func TestEveryVerbRefusesANeedBeforeAnythingIsTouched(t *testing.T) {
	path, root, d := volatileDir(t)
	need := durable.Options{Need: fsx.Ordered}
	for verb, do := range map[string]func() error{
		"write-file": func() error { _, err := durable.WriteFile(ctx, root, "f", after, need); return err },
		"publish":    func() error { _, err := durable.Publish(ctx, root, "f", after, need); return err },
		"create":     func() error { _, err := durable.Create(root, "f", need); return err },
		"sequence": func() error {
			_, err := durable.Sequence(ctx, []durable.Write{{Dir: d, Name: "f", Data: after}}, nil, need)
			return err
		},
		"snapshot-put":    func() error { _, _, err := durable.OpenSnapshots(d).Put(ctx, 1, after, need); return err },
		"quarantine-keep": func() error { _, err := durable.OpenQuarantine(d).Keep(ctx, "f", after, "why", need); return err },
		"write-file, durably": func() error {
			_, err := durable.WriteFile(ctx, root, "f", after, durable.Options{Need: fsx.Durable})
			return err
		},
	} {
		err := do()
		var pe *fsx.PublishError
		if !errors.Is(err, fsx.ErrNeed) || !errors.As(err, &pe) || pe.State != fsx.NotPublished {
			t.Errorf("%s: %v", verb, err)
		}
	}
	if es, err := os.ReadDir(path); err != nil || len(es) != 0 {
		t.Errorf("touched: %v, %v", es, err)
	}
}
