package durable_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/landfast/landfast/durable"
	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/internal/fsops"
	"github.com/landfast/landfast/internal/golden"
	"github.com/landfast/landfast/internal/simfs"
)

var (
	before = []byte(strings.Repeat("before ", 900)) // two blocks, so that it can be torn
	after  = []byte(strings.Repeat("AFTER! ", 1000))
)

func withRoot(t fsops.Table, f func(*fsx.Root) error) error {
	root, err := fsx.OpenRootOn(t, "/")
	if err != nil {
		return err
	}
	defer root.Close()
	return f(root)
}

func withDir(t fsops.Table, rel string, f func(*fsx.Root, *fsx.Dir) error) error {
	return withRoot(t, func(root *fsx.Root) error {
		d, err := root.Dir(rel)
		if err != nil {
			return err
		}
		defer d.Close()
		return f(root, d)
	})
}

// whole says what is wrong with a file that may hold old (nil: be absent) or new
// content, and must hold the new once acknowledged.
func whole(f *simfs.FS, path string, old, new []byte, acked bool) error {
	got, err := f.ReadFile(path)
	switch {
	case err != nil && acked:
		return fmt.Errorf("D1: %s is gone", path)
	case err != nil && old != nil:
		return fmt.Errorf("D2: %s is gone", path)
	case err != nil:
		return nil
	case acked && !bytes.Equal(got, new):
		return fmt.Errorf("D1: %s has not its acknowledged content", path)
	case !bytes.Equal(got, new) && !bytes.Equal(got, old):
		return fmt.Errorf("D2: %s is torn", path)
	}
	return nil
}

var ctx = context.Background()

// operations are the durable operations of this package.
var operations = map[string]simfs.Case{
	"write-file": {
		Setup: func(f *simfs.FS) { f.WriteFile("/d/f", before, 0o600) },
		Do: func(t fsops.Table) error {
			return withRoot(t, func(r *fsx.Root) error {
				_, err := durable.WriteFile(ctx, r, "d/f", after, durable.Options{})
				return err
			})
		},
		Check: func(f *simfs.FS, acked bool) error { return whole(f, "/d/f", before, after, acked) },
	},
	"publish": {
		Setup: func(f *simfs.FS) { f.MkdirAll("/d") },
		Do: func(t fsops.Table) error {
			return withRoot(t, func(r *fsx.Root) error {
				_, err := durable.Publish(ctx, r, "d/f", after, durable.Options{})
				return err
			})
		},
		Check: func(f *simfs.FS, acked bool) error { return whole(f, "/d/f", nil, after, acked) },
	},
	"create-commit": {
		Setup: func(f *simfs.FS) { f.WriteFile("/f", before, 0o600) },
		Do: func(t fsops.Table) error {
			return withRoot(t, func(r *fsx.Root) error {
				f, err := durable.Create(r, "f", durable.Options{})
				if err != nil {
					return err
				}
				for part := range bytes.SplitAfterSeq(after, []byte(strings.Repeat("! AFTER", 300))) {
					if _, err := f.Write(part); err != nil {
						return errors.Join(err, f.Abort())
					}
				}
				_, err = f.Commit(ctx)
				return err
			})
		},
		Check: func(f *simfs.FS, acked bool) error { return whole(f, "/f", before, after, acked) },
	},
	"sequence": {
		Setup: func(f *simfs.FS) {
			f.WriteFile("/main", before, 0o600)
			f.MkdirAll("/side")
		},
		Do: func(t fsops.Table) error {
			return withDir(t, "side", func(r *fsx.Root, side *fsx.Dir) error {
				top, err := r.Dir(".")
				if err != nil {
					return err
				}
				defer top.Close()
				_, err = durable.Sequence(ctx, []durable.Write{
					{Dir: side, Name: "copy", Data: after, New: true, Mode: 0o600},
					{Dir: top, Name: "main", Data: after, Mode: 0o600},
				}, nil, durable.Options{})
				return err
			})
		},
		Check: func(f *simfs.FS, acked bool) error {
			return errors.Join(whole(f, "/main", before, after, acked), whole(f, "/side/copy", nil, after, acked))
		},
	},
	"snapshot-put": {
		Setup: func(f *simfs.FS) { f.MkdirAll("/s") },
		Do: func(t fsops.Table) error {
			return withDir(t, "s", func(_ *fsx.Root, d *fsx.Dir) error {
				_, _, err := durable.OpenSnapshots(d).Put(ctx, 7, after, durable.Options{})
				return err
			})
		},
		Check: func(f *simfs.FS, acked bool) error {
			return whole(f, "/s/"+durable.SnapshotName(7, after), nil, after, acked)
		},
	},
	"quarantine-keep": {
		Setup: func(f *simfs.FS) { f.MkdirAll("/q") },
		Do: func(t fsops.Table) error {
			return withDir(t, "q", func(_ *fsx.Root, d *fsx.Dir) error {
				_, err := durable.OpenQuarantine(d).Keep(ctx, "state", after, "test", durable.Options{})
				return err
			})
		},
		Check: func(f *simfs.FS, acked bool) error {
			kept, receipt := false, false
			for _, name := range f.Names("/q") {
				data, _ := f.ReadFile("/q/" + name)
				switch {
				case strings.HasPrefix(name, ".lf-"):
				case strings.HasSuffix(name, ".receipt.json"):
					receipt = strings.Contains(string(data), `"reason": "test"`)
					if !receipt {
						return errors.New("D2: the receipt is torn")
					}
				default:
					kept = true
					if !bytes.Equal(data, after) {
						return errors.New("D2: the kept bytes are torn")
					}
				}
			}
			if acked && !(kept && receipt) {
				return fmt.Errorf("D1: kept %v, receipt %v", kept, receipt)
			}
			return nil
		},
	},
	"quarantine-move": {
		Setup: func(f *simfs.FS) {
			f.WriteFile("/state", before, 0o600)
			f.MkdirAll("/q")
		},
		Do: func(t fsops.Table) error {
			return withDir(t, "q", func(r *fsx.Root, q *fsx.Dir) error {
				top, err := r.Dir(".")
				if err != nil {
					return err
				}
				defer top.Close()
				_, err = durable.OpenQuarantine(q).Move(ctx, top, "state", "test", durable.Options{})
				return err
			})
		},
		Check: func(f *simfs.FS, acked bool) error {
			here, herr := f.ReadFile("/state")
			there, receipt := 0, 0
			for _, name := range f.Names("/q") {
				data, _ := f.ReadFile("/q/" + name)
				switch {
				case strings.HasPrefix(name, ".lf-"):
				case strings.HasSuffix(name, ".receipt.json"):
					if !strings.Contains(string(data), `"reason": "test"`) {
						return errors.New("D2: the receipt is torn")
					}
					receipt++
				case !bytes.Equal(data, before):
					return errors.New("the moved bytes are torn")
				default:
					there++
				}
			}
			switch {
			case herr == nil && !bytes.Equal(here, before):
				return errors.New("the original is torn")
			case herr != nil && there == 0:
				return errors.New("neither the original nor the moved entry is there")
			case there > receipt:
				return errors.New("an entry without a receipt")
			case acked && (herr == nil || there != 1):
				return fmt.Errorf("D1: original there %v, moved %d", herr == nil, there)
			}
			return nil
		},
	},
}

func TestEveryCrashStateIsOldOrNew(t *testing.T) {
	total := 0
	for name, c := range operations {
		for _, m := range simfs.Models {
			t.Run(name+"/"+m.Name, func(t *testing.T) { total += simfs.CrashEvery(t, m, c) })
		}
	}
	if total < 500 {
		t.Errorf("only %d states", total)
	}
	t.Logf("%d states", total)
}

func TestEverySyncIsNeeded(t *testing.T) {
	for name, c := range operations {
		t.Run(name, func(t *testing.T) { simfs.Mutants(t, simfs.Weak, c) })
	}
}

func TestOperationTraces(t *testing.T) {
	for name, c := range operations {
		t.Run(name, func(t *testing.T) {
			f := simfs.New(simfs.Weak)
			c.Setup(f)
			tap := simfs.NewTap(f)
			if err := c.Do(tap); err != nil {
				t.Fatal(err)
			}
			golden.Cmp(t, name+".trace", []byte(tap.Trace()))
			if n := f.OpenHandles(); n != 0 {
				t.Errorf("%d handles are left open", n)
			}
		})
	}
}

// TestEveryFaultLeavesAllOldOrSaysOtherwise is D3 for every operation: after
// any failure of any call the content is old or new and whole, success means
// new, nothing leaks.
func TestEveryFaultLeavesAllOldOrSaysOtherwise(t *testing.T) {
	faults := 0
	for name, c := range operations {
		t.Run(name, func(t *testing.T) {
			faults += simfs.Sweep(t, simfs.Weak, c.Setup, c.Do, func(f *simfs.FS, fault simfs.Fault, err error, _ []simfs.Op) error {
				if n := f.OpenHandles(); n != 0 {
					return fmt.Errorf("%d handles are left open", n)
				}
				if err != nil && !errors.Is(err, fault.Errno) && fault.Op.Kind != "close" {
					return errors.New("the error does not unwrap to its cause")
				}
				var pe *fsx.PublishError
				for _, dir := range []string{"/", "/d", "/s", "/q", "/side"} {
					for _, entry := range f.Names(dir) {
						named := errors.As(err, &pe) && strings.HasSuffix(pe.Tmp, entry)
						if strings.HasPrefix(entry, ".lf-") && !named && fault.Op.Kind != "unlink" {
							return fmt.Errorf("%s is left behind and not named", entry)
						}
					}
				}
				// The live state stands in for a crash state: acknowledged or not.
				return c.Check(f, err == nil)
			})
		})
	}
	t.Logf("%d faults", faults)
}
