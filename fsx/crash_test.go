package fsx_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/internal/fsops"
	"github.com/landfast/landfast/internal/golden"
	"github.com/landfast/landfast/internal/simfs"
)

// onDir runs f in the root directory of a table.
func onDir(t fsops.Table, f func(*fsx.Root, *fsx.Dir) error) error {
	root, err := fsx.OpenRootOn(t, "/")
	if err != nil {
		return err
	}
	defer root.Close()
	d, err := root.Dir(".")
	if err != nil {
		return err
	}
	defer d.Close()
	return f(root, d)
}

// stage writes content into a staged file in two calls.
func stage(d *fsx.Dir, name, content string, o fsx.Options) (*fsx.Temp, error) {
	t, err := d.CreateTemp(name, o)
	if err != nil {
		return nil, err
	}
	for _, part := range []string{content[:len(content)/2], content[len(content)/2:]} {
		if _, err := t.Write([]byte(part)); err != nil {
			return nil, errors.Join(err, t.Abort())
		}
	}
	return t, nil
}

var (
	oldContent = strings.Repeat("old ", 1500) // two blocks, so that it can be torn
	newContent = strings.Repeat("NEW!", 1800)
)

// operations are the durable operations of this package.
var operations = []struct {
	name string
	simfs.Case
}{
	{"replace", simfs.Case{
		Setup: func(f *simfs.FS) { f.WriteFile("/f", []byte(oldContent), 0o640) },
		Do: func(t fsops.Table) error {
			return onDir(t, func(_ *fsx.Root, d *fsx.Dir) error {
				tmp, err := stage(d, "f", newContent, fsx.Options{})
				if err != nil {
					return err
				}
				_, err = tmp.Replace(context.Background())
				return err
			})
		},
		Check: func(f *simfs.FS, acked bool) error { return oldOrNew(f, acked, "/f", oldContent, newContent, 0o640) },
	}},
	{"publish-new", simfs.Case{
		Setup: func(*simfs.FS) {},
		Do:    publishNewF,
		Check: func(f *simfs.FS, acked bool) error { return oldOrNew(f, acked, "/f", "", newContent, 0o600) },
	}},
	{"mkdir-all", simfs.Case{
		Setup: func(f *simfs.FS) { f.MkdirAll("/a") },
		Do: func(t fsops.Table) error {
			return onDir(t, func(r *fsx.Root, _ *fsx.Dir) error {
				d, _, err := r.MkdirAll("a/b/c", 0o700)
				if err != nil {
					return err
				}
				return d.Close()
			})
		},
		Check: func(f *simfs.FS, acked bool) error {
			if acked && strings.Join(f.Names("/a/b"), " ") != "c" {
				return errors.New("an acknowledged directory is gone")
			}
			return nil
		},
	}},
	{"move-new", simfs.Case{
		Setup: func(f *simfs.FS) {
			f.WriteFile("/f", []byte(oldContent), 0o600)
			f.MkdirAll("/q")
		},
		Do: func(t fsops.Table) error {
			return onDir(t, func(r *fsx.Root, d *fsx.Dir) error {
				q, err := r.Dir("q")
				if err != nil {
					return err
				}
				defer q.Close()
				_, err = d.MoveNew(context.Background(), "f", q, "g", fsx.Retry{})
				return err
			})
		},
		Check: func(f *simfs.FS, acked bool) error {
			here, herr := f.ReadFile("/f")
			there, terr := f.ReadFile("/q/g")
			switch {
			case acked && herr == nil:
				return errors.New("the old name is back after the acknowledgement")
			case herr != nil && terr != nil:
				return errors.New("neither name holds the file")
			case herr == nil && string(here) != oldContent, terr == nil && string(there) != oldContent:
				return errors.New("the content is torn")
			}
			return nil
		},
	}},
}

func publishNewF(t fsops.Table) error {
	return onDir(t, func(_ *fsx.Root, d *fsx.Dir) error {
		tmp, err := stage(d, "f", newContent, fsx.Options{Mode: 0o600})
		if err != nil {
			return err
		}
		_, err = tmp.PublishNew(context.Background())
		return err
	})
}

// oldOrNew is D1 and D2: the old or the new content, whole, with its mode, and
// the new one after the acknowledgement. old "" is no file.
func oldOrNew(f *simfs.FS, acked bool, path, old, new string, mode fs.FileMode) error {
	data, err := f.ReadFile(path)
	switch {
	case err != nil && (acked || old != ""):
		return fmt.Errorf("D1/D2: %s is gone", path)
	case err != nil:
		return nil
	case acked && string(data) != new:
		return fmt.Errorf("D1: %s lost its acknowledged content", path)
	case string(data) != old && string(data) != new:
		return fmt.Errorf("D2: %s is torn", path)
	}
	if want := fmt.Sprintf("%s %o ", strings.TrimPrefix(path, "/"), mode); !strings.Contains(f.Tree(), want) {
		return fmt.Errorf("%s lost its mode", path)
	}
	return nil
}

func TestEveryCrashStateOfEveryOperationIsOldOrNew(t *testing.T) {
	total := 0
	for _, op := range operations {
		for _, m := range simfs.Models {
			t.Run(op.name+"/"+m.Name, func(t *testing.T) {
				n := simfs.CrashEvery(t, m, op.Case)
				if n < 5 {
					t.Errorf("only %d states: nothing was tested", n)
				}
				total += n
			})
		}
	}
	// The fall-back for filesystems without a no-replace rename.
	noNew := simfs.Weak
	noNew.NoNewRename = true
	t.Run("publish-new/by link", func(t *testing.T) { total += simfs.CrashEvery(t, noNew, operations[1].Case) })
	t.Logf("%d states", total)
}

func TestEverySyncIsNeeded(t *testing.T) {
	for _, op := range operations {
		t.Run(op.name, func(t *testing.T) { simfs.Mutants(t, simfs.Weak, op.Case) })
	}
}

// The harness must catch writers that are known to be wrong, or it proves nothing.
func TestBrokenWritersAreCaught(t *testing.T) {
	broken := map[string]fsx.Options{
		"no sync at all":    {Flush: fsx.FlushNone},
		"no directory sync": {Flush: fsx.FlushFile},
	}
	for name, o := range broken {
		t.Run(name, func(t *testing.T) {
			c := operations[0].Case
			c.Do = func(tb fsops.Table) error {
				return onDir(tb, func(_ *fsx.Root, d *fsx.Dir) error {
					tmp, err := stage(d, "f", newContent, o)
					if err != nil {
						return err
					}
					_, err = tmp.Replace(context.Background())
					return err
				})
			}
			for _, m := range simfs.Models {
				probe := &silent{TB: t}
				simfs.CrashEvery(probe, m, c)
				if !probe.failed {
					t.Errorf("model %s finds nothing wrong with it", m.Name)
				}
			}
		})
	}
	t.Run("in place", func(t *testing.T) {
		c := operations[0].Case
		c.Do = func(tb fsops.Table) error {
			return onDir(tb, func(_ *fsx.Root, d *fsx.Dir) error {
				f, err := d.OpenInPlace("f", 0o600)
				if err != nil {
					return err
				}
				defer f.Close()
				if _, err := f.WriteAt([]byte(newContent), 0); err != nil {
					return err
				}
				_, err = f.Sync()
				return err
			})
		}
		probe := &silent{TB: t}
		simfs.CrashEvery(probe, simfs.Weak, c)
		if !probe.failed {
			t.Error("an overwrite in place passes for safe")
		}
	})
}

// silent notes a failure instead of reporting it.
type silent struct {
	simfs.TB
	failed bool
}

func (s *silent) Errorf(string, ...any) { s.failed = true }

func TestOperationTraces(t *testing.T) {
	for _, op := range operations {
		t.Run(op.name, func(t *testing.T) {
			f := simfs.New(simfs.Weak)
			op.Setup(f)
			tap := simfs.NewTap(f)
			if err := op.Do(tap); err != nil {
				t.Fatal(err)
			}
			golden.Cmp(t, op.name+".trace", []byte(tap.Trace()))
			if n := f.OpenHandles(); n != 0 {
				t.Errorf("%d handles are left open", n)
			}
		})
	}
	t.Run("publish-new by link", func(t *testing.T) {
		f := simfs.New(simfs.Model{Name: "no renameat2", NoNewRename: true})
		tap := simfs.NewTap(f)
		if err := publishNewF(tap); err != nil {
			t.Fatal(err)
		}
		golden.Cmp(t, "publish-new-by-link.trace", []byte(tap.Trace()))
	})
}

// TestEveryFaultLeavesOldContentOrSaysOtherwise is D3 and D4: whatever fails,
// the state in the error is true, nothing staged stays unless it is named, no
// handle leaks, and no file is synced again after its sync failed.
func TestEveryFaultLeavesOldContentOrSaysOtherwise(t *testing.T) {
	faults := 0
	for _, op := range operations[:2] {
		old := ""
		if op.name == "replace" {
			old = oldContent
		}
		for _, m := range []simfs.Model{simfs.Weak, {Name: "no renameat2", NoNewRename: true}} {
			t.Run(op.name+"/"+m.Name, func(t *testing.T) {
				faults += simfs.Sweep(t, m, op.Setup, op.Do, func(f *simfs.FS, fault simfs.Fault, err error, ops []simfs.Op) error {
					return checkFault(f, fault, err, ops, old)
				})
			})
		}
	}
	t.Logf("%d faults", faults)
}

func checkFault(f *simfs.FS, fault simfs.Fault, err error, ops []simfs.Op, old string) error {
	data, rerr := f.ReadFile("/f")
	isNew := rerr == nil && string(data) == newContent
	isOld := rerr == nil && string(data) == old || rerr != nil && old == ""
	var pe *fsx.PublishError
	switch {
	case !isNew && !isOld:
		return errors.New("D2: neither old nor new")
	case err == nil && !isNew:
		return errors.New("success without the content")
	case errors.As(err, &pe) && pe.State == fsx.NotPublished && isNew:
		return errors.New("D3: says not published, but it is")
	case errors.As(err, &pe) && pe.State == fsx.VisibleNotDurable && !isNew:
		return errors.New("D3: says visible, but it is not")
	case err != nil && !errors.Is(err, fault.Errno) && fault.Op.Kind != "close":
		return errors.New("the error does not unwrap to its cause")
	}
	if n := f.OpenHandles(); n != 0 {
		return fmt.Errorf("%d handles are left open", n)
	}
	for _, name := range f.Names("/") {
		if name == "f" {
			continue
		}
		named := errors.As(err, &pe) && strings.HasSuffix(pe.Tmp, name)
		if !named && fault.Op.Kind != "unlink" {
			return fmt.Errorf("%s is left behind and not named", name)
		}
	}
	if fault.Op.Kind == "sync" && fault.Errno == syscall.EIO {
		syncs := 0
		for _, op := range ops {
			if op.Kind == "sync" {
				syncs++
			}
		}
		if syncs > 1 {
			return errors.New("D4: synced again after a failed sync")
		}
	}
	return nil
}
