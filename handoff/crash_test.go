package handoff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/landfast/landfast/internal/fsops"
	"github.com/landfast/landfast/internal/golden"
	"github.com/landfast/landfast/internal/simfs"
	"github.com/landfast/landfast/internal/testenv"
)

// on runs f with the project of a table.
func on(t fsops.Table, f func(*Project) error) error {
	p, err := Open("/", Options{Table: t, Git: testBranch("main"), LockTimeout: -1})
	if err != nil {
		return err
	}
	defer p.Close()
	return f(p)
}

func recordOn(t fsops.Table, id string) error {
	return on(t, func(p *Project) error {
		_, err := p.Record(context.Background(), goal(id, "text of "+id))
		return err
	})
}

// withRecords is a filesystem with a ledger of n records, all of it durable.
func withRecords(f *simfs.FS, n int) {
	scratch := simfs.New(simfs.Weak)
	for i := range n {
		if err := recordOn(scratch, fmt.Sprint("r", i+1)); err != nil {
			panic(err)
		}
	}
	plantCopy(f, scratch, "/")
}

// plantCopy copies a tree as if it had always been there.
func plantCopy(to, from *simfs.FS, dir string) {
	for _, name := range from.Names(dir) {
		p := path.Join(dir, name)
		if data, err := from.ReadFile(p); err == nil {
			to.WriteFile(p, data, 0o600)
			continue
		}
		to.MkdirAll(p)
		plantCopy(to, from, p)
	}
}

// revisionAfter is what a command finds on a disk after the cut.
func revisionAfter(f *simfs.FS) (Health, error) {
	var h Health
	err := on(f, func(p *Project) (err error) {
		h, err = p.Doctor(context.Background())
		return err
	})
	return h, err
}

// sound checks a disk after a record from revision old: H1 and D2.
func sound(old uint64) func(*simfs.FS, bool) error {
	return func(f *simfs.FS, acked bool) error {
		h, err := revisionAfter(f)
		if err != nil {
			return err
		}
		switch {
		case acked && (h.State != Healthy || h.Revision != old+1):
			return fmt.Errorf("H1: acknowledged revision %d, found %s revision %d", old+1, h.State, h.Revision)
		case acked && (!h.Protected || uint64(len(h.Snapshots)) < min(old+1, 2)):
			return fmt.Errorf("H1: protected %v, %d snapshots", h.Protected, len(h.Snapshots))
		case old > 0 && (h.State != Healthy || h.Revision < old || h.Revision > old+1):
			return fmt.Errorf("D2: found %s revision %d, want %d or %d", h.State, h.Revision, old, old+1)
		case old == 0 && h.State != Empty && h.State != Healthy:
			return fmt.Errorf("D2: found %s", h.State)
		case acked && len(h.InvalidSnapshots) > 0:
			return fmt.Errorf("damaged snapshots: %v", h.InvalidSnapshots)
		}
		// The next command works and mends what is missing.
		if err := recordOn(f, "next"); err != nil {
			return fmt.Errorf("the next record: %w", err)
		}
		h, err = revisionAfter(f)
		if err != nil || !h.Healthy {
			return fmt.Errorf("after the next record: %+v, %w", h, err)
		}
		for _, dir := range []string{"/.landfast", "/.landfast/snapshots"} {
			for _, name := range f.Names(dir) {
				if strings.HasPrefix(name, ".lf-") {
					return fmt.Errorf("leftover %s/%s after the next record", dir, name)
				}
			}
		}
		return nil
	}
}

// models are those to go through: one of them under the race detector.
func models() []simfs.Model {
	if testenv.Race {
		return simfs.Models[:1]
	}
	return simfs.Models
}

func recordCase(old int) simfs.Case {
	return simfs.Case{
		Setup: func(f *simfs.FS) { withRecords(f, old) },
		Do:    func(t fsops.Table) error { return recordOn(t, "new") },
		Check: sound(uint64(old)),
	}
}

func TestEveryCrashStateOfARecordIsOldOrNew(t *testing.T) {
	total := 0
	for _, old := range []int{0, 1, 3} {
		for _, m := range models() {
			t.Run(fmt.Sprintf("from revision %d/%s", old, m.Name), func(t *testing.T) {
				total += simfs.CrashEvery(t, m, recordCase(old))
			})
		}
	}
	t.Logf("%d states", total)
}

func TestEverySyncOfARecordIsNeeded(t *testing.T) {
	for _, old := range []int{0, 3} {
		t.Run(fmt.Sprint("from revision ", old), func(t *testing.T) {
			if n := simfs.Mutants(t, simfs.Weak, recordCase(old)); old == 3 && n != 4 || old == 0 && n != 5 {
				t.Errorf("%d syncs, want 4 in the steady state and 5 at first", n)
			}
		})
	}
}

func TestRecordTraces(t *testing.T) {
	for name, old := range map[string]int{"record-first.trace": 0, "record.trace": 3} {
		f := simfs.New(simfs.Weak)
		withRecords(f, old)
		tap := simfs.NewTap(f)
		if err := recordOn(tap, "new"); err != nil {
			t.Fatal(err)
		}
		golden.Cmp(t, name, []byte(tap.Trace()))
		if n := f.OpenHandles(); n != 0 {
			t.Errorf("%s: %d handles are left open", name, n)
		}
	}
}

// ruin is a ledger that recovery has to replace, planted durably.
var ruins = map[string]func(*simfs.FS){
	"zeroed":  func(f *simfs.FS) { f.WriteFile("/.landfast/ledger.json", make([]byte, 5000), 0o600) },
	"link":    func(f *simfs.FS) { f.Symlink("/.landfast/ledger.json", "elsewhere") },
	"missing": func(f *simfs.FS) {},
}

func recoverOn(t fsops.Table) error {
	return on(t, func(p *Project) error {
		preview, err := p.Recover(context.Background(), RecoverOptions{})
		if err != nil {
			return err
		}
		_, err = p.Recover(context.Background(), RecoverOptions{Apply: true, Expect: preview.Expect})
		return err
	})
}

func recoverCase(ruin string) simfs.Case {
	return simfs.Case{
		Setup: func(f *simfs.FS) {
			whole := simfs.New(simfs.Weak)
			withRecords(whole, 3)
			for _, name := range whole.Names("/.landfast/snapshots") {
				data, _ := whole.ReadFile("/.landfast/snapshots/" + name)
				f.WriteFile("/.landfast/snapshots/"+name, data, 0o600)
			}
			ruins[ruin](f)
		},
		Do: recoverOn,
		Check: func(f *simfs.FS, acked bool) error {
			if err := preserved(f, ruin); err != nil {
				return err
			}
			h, err := revisionAfter(f)
			if err != nil {
				return err
			}
			if acked && (h.State != Healthy || h.Revision != 3) {
				return fmt.Errorf("acknowledged, but found %s revision %d", h.State, h.Revision)
			}
			if h.State == Healthy {
				return nil
			}
			// A recovery that was cut off is repeated and ends well.
			if err := recoverOn(f); err != nil {
				return fmt.Errorf("recovering again: %w", err)
			}
			if h, err = revisionAfter(f); err != nil || h.State != Healthy || h.Revision != 3 {
				return fmt.Errorf("after recovering again: %+v, %w", h, err)
			}
			return preserved(f, ruin)
		},
	}
}

// preserved is H3: what lay in the ledger's place is there still, or set aside.
func preserved(f *simfs.FS, ruin string) error {
	tree := f.Tree()
	switch ruin {
	case "zeroed":
		zeros := make([]byte, 5000)
		if data, err := f.ReadFile("/.landfast/ledger.json"); err == nil && bytes.Equal(data, zeros) {
			return nil
		}
		for _, name := range f.Names("/.landfast/quarantine") {
			if data, err := f.ReadFile("/.landfast/quarantine/" + name); err == nil && bytes.Equal(data, zeros) {
				return nil
			}
		}
		return errors.New("H3: the damaged bytes are gone")
	case "link":
		if !strings.Contains(tree, "-> elsewhere") {
			return errors.New("H3: the link is gone")
		}
	}
	return nil
}

func TestEveryCrashStateOfARecoveryKeepsTheDamagedBytesAndCanBeRepeated(t *testing.T) {
	total := 0
	for ruin := range ruins {
		for _, m := range models() {
			t.Run(ruin+"/"+m.Name, func(t *testing.T) { total += simfs.CrashEvery(t, m, recoverCase(ruin)) })
		}
	}
	t.Logf("%d states", total)
}

// TestEveryFaultInARecordLosesNothing: whatever call fails with whatever
// answer, the ledger is the old or the new one, and an error that says nothing
// else means the old one (D3), or the change is acknowledged and there (H1).
func TestEveryFaultInARecordLosesNothing(t *testing.T) {
	faults := 0
	for _, old := range []int{0, 3} {
		t.Run(fmt.Sprint("from revision ", old), func(t *testing.T) {
			setup := func(f *simfs.FS) { withRecords(f, old) }
			do := func(tb fsops.Table) error { return recordOn(tb, "new") }
			faults += simfs.Sweep(t, simfs.Weak, setup, do, func(f *simfs.FS, fault simfs.Fault, err error, _ []simfs.Op) error {
				h, derr := revisionAfter(f)
				if derr != nil {
					return derr
				}
				if n := f.OpenHandles(); n != 0 {
					return fmt.Errorf("%d handles are left open", n)
				}
				got := h.Revision
				if h.State == Empty {
					got = 0
				} else if h.State != Healthy {
					return fmt.Errorf("found %s", h.State)
				}
				switch {
				case err == nil && got != uint64(old)+1:
					return errors.New("acknowledged and not there")
				case err != nil && got != uint64(old) && !strings.Contains(explainHint(err), "power loss"):
					return errors.New("the change is there, the error does not say so")
				case got != uint64(old) && got != uint64(old)+1:
					return fmt.Errorf("found revision %d", got)
				}
				return nil
			})
		})
	}
	t.Logf("%d faults", faults)
}

func explainHint(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Hint
	}
	return ""
}

func TestFullDiskKeepsTheOldLedger(t *testing.T) {
	for space := int64(0); space < 3000; space += 97 {
		f := simfs.New(simfs.Weak)
		withRecords(f, 2)
		f.SetSpace(space)
		err := recordOn(f, "new")
		f.SetSpace(-1)
		h, derr := revisionAfter(f)
		if derr != nil {
			t.Fatal(derr)
		}
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Code != Filesystem || h.Revision != 2 {
				t.Errorf("space %d: %v, revision %d", space, err, h.Revision)
			}
		} else if h.Revision != 3 {
			t.Errorf("space %d: acknowledged, revision %d", space, h.Revision)
		}
		if h.State != Healthy {
			t.Errorf("space %d: %s", space, h.State)
		}
	}
}

// ARCHITECTURE.md shows the trace of a record; it must be the present one.
func TestArchitectureShowsTheTraceOfARecord(t *testing.T) {
	trace, err := os.ReadFile("testdata/record.trace")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile("../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	lf := func(b []byte) string { return strings.ReplaceAll(string(b), "\r\n", "\n") }
	if !strings.Contains(lf(doc), lf(trace)) {
		t.Error("it shows another one")
	}
}
