//go:build unix

package durable_test

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/landfast/landfast/durable"
	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/internal/simfs"
)

// answering is a model filesystem whose operations of one kind answer no.
func answering(f *simfs.FS, kind string, no syscall.Errno, times int) *simfs.Tap {
	tap := simfs.NewTap(f)
	tap.Before = func(_ int, op simfs.Op) simfs.Action {
		if op.Kind != kind || times == 0 {
			return simfs.Action{}
		}
		times--
		return simfs.Action{Err: no}
	}
	return tap
}

// D6, golang/go#64215: no verb may claim durability where the drive's cache was
// not flushed, whichever file of a sequence it was.
func TestNoVerbClaimsMoreThanItsWeakestFlush(t *testing.T) {
	for verb, do := range map[string]func(*fsx.Root, *fsx.Dir) (fsx.Receipt, error){
		"write-file": func(r *fsx.Root, _ *fsx.Dir) (fsx.Receipt, error) {
			return durable.WriteFile(ctx, r, "f", after, durable.Options{})
		},
		"publish": func(r *fsx.Root, _ *fsx.Dir) (fsx.Receipt, error) {
			return durable.Publish(ctx, r, "f", after, durable.Options{})
		},
		"sequence": func(_ *fsx.Root, d *fsx.Dir) (fsx.Receipt, error) {
			return durable.Sequence(ctx, []durable.Write{{Dir: d, Name: "a", Data: after}, {Dir: d, Name: "b", Data: after}}, nil, durable.Options{})
		},
		"snapshot-put": func(_ *fsx.Root, d *fsx.Dir) (fsx.Receipt, error) {
			_, r, err := durable.OpenSnapshots(d).Put(ctx, 1, after, durable.Options{})
			return r, err
		},
	} {
		for _, kind := range []string{"sync", "syncdir", ""} {
			t.Run(verb+"/"+kind, func(t *testing.T) {
				err := withDir(answering(simfs.New(simfs.Weak), kind, syscall.ENOTSUP, 1), ".", func(r *fsx.Root, d *fsx.Dir) error {
					got, err := do(r, d)
					want := fsx.Ordered
					if kind == "" {
						want = fsx.Durable
					}
					if got.Guarantee != want || (len(got.Degraded) > 0) != (kind != "") {
						t.Errorf("%v, degraded %v; want %v", got.Guarantee, got.Degraded, want)
					}
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// R3: a copy that somebody else pruned in the meantime is not claimed.
func TestPruneDoesNotClaimWhatOthersRemoved(t *testing.T) {
	f := simfs.New(simfs.Weak)
	err := withDir(answering(f, "unlink", syscall.ENOENT, 1), ".", func(_ *fsx.Root, d *fsx.Dir) error {
		s := durable.OpenSnapshots(d)
		for rev := uint64(1); rev <= 4; rev++ {
			if _, _, err := s.Put(ctx, rev, []byte{byte(rev)}, durable.Options{}); err != nil {
				return err
			}
		}
		removed, err := s.Prune(2, 100)
		if len(removed) != 1 || !strings.HasPrefix(removed[0], "r1-") {
			t.Errorf("claims %v", removed)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// D3: what a failed call says of the state is what is there.
func TestAFailedSequencePublishesNothingUnlessItSaysSo(t *testing.T) {
	for kind, want := range map[string]fsx.State{"write": fsx.NotPublished, "sync": fsx.NotPublished, "syncdir": fsx.VisibleNotDurable} {
		t.Run(kind, func(t *testing.T) {
			f := simfs.New(simfs.Weak)
			f.WriteFile("/b", before, 0o600)
			err := withDir(answering(f, kind, syscall.EIO, 1), ".", func(_ *fsx.Root, d *fsx.Dir) error {
				_, err := durable.Sequence(ctx, []durable.Write{{Dir: d, Name: "a", Data: after, New: true}, {Dir: d, Name: "b", Data: after}}, nil, durable.Options{})
				return err
			})
			var pe *fsx.PublishError
			if !errors.Is(err, syscall.EIO) || !errors.As(err, &pe) || pe.State != want {
				t.Fatalf("got %v, want state %v", err, want)
			}
			// The error is about one file, and names each path once.
			if name := map[string]string{"write": "/a", "sync": "/a", "syncdir": "/b"}[kind]; filepath.ToSlash(pe.Path) != name || strings.Count(err.Error(), "sync dir") > 1 {
				t.Errorf("%v, about %s; want %s", err, pe.Path, name)
			}
			got, _ := f.ReadFile("/b")
			content := before
			if want == fsx.VisibleNotDurable {
				content = after
			}
			if string(got) != string(content) {
				t.Errorf("%d bytes are under the name", len(got))
			}
			for _, name := range f.Names("/") {
				if strings.HasPrefix(name, ".lf-") || name == "a" && want == fsx.NotPublished {
					t.Errorf("left: %s", name)
				}
			}
		})
	}
}
