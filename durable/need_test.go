package durable_test

import (
	"errors"
	"testing"

	"github.com/landfast/landfast/durable"
	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/internal/simfs"
)

// A need for durability is refused before anything is staged where one of the
// directories can't be synced.
func TestSequenceRefusesAnUnmetNeedBeforeAnythingIsTouched(t *testing.T) {
	m := simfs.Weak
	m.NoDirSync = true
	f := simfs.New(m)
	err := withDir(f, ".", func(_ *fsx.Root, d *fsx.Dir) error {
		_, err := durable.Sequence(ctx, []durable.Write{{Dir: d, Name: "f", Data: after}}, nil, durable.Options{Need: fsx.Durable})
		return err
	})
	if !errors.Is(err, fsx.ErrNeed) {
		t.Errorf("got %v", err)
	}
	if names := f.Names("/"); len(names) != 0 {
		t.Errorf("touched: %v", names)
	}
	if err := withDir(f, ".", func(_ *fsx.Root, d *fsx.Dir) error {
		_, err := durable.Sequence(ctx, []durable.Write{{Dir: d, Name: "f", Data: after}}, nil, durable.Options{Need: fsx.Ordered})
		return err
	}); err != nil {
		t.Errorf("what can be promised is refused: %v", err)
	}
}

func TestPruneWithNothingToKeepRemovesAllThatIsNotProtected(t *testing.T) {
	_, d := realDir(t)
	s := durable.OpenSnapshots(d)
	first, _, err := s.Put(ctx, 1, before, durable.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Put(ctx, 2, after, durable.Options{}); err != nil {
		t.Fatal(err)
	}
	if removed, err := s.Prune(-1, 1<<20, first); err != nil || len(removed) != 1 {
		t.Errorf("%v, %v", removed, err)
	}
}
