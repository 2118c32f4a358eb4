package simfs

import (
	"fmt"
	"slices"
	"syscall"

	"github.com/landfast/landfast/internal/fsops"
)

// TB is what the drivers need of a testing.TB.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Failed() bool
	Logf(format string, args ...any)
}

// Case is one operation of the code under test.
type Case struct {
	// Setup makes the filesystem before the operation.
	Setup func(*FS)
	// Do runs the operation; its nil error is the acknowledgement.
	Do func(t fsops.Table) error
	// Check says what is wrong with a disk, or nil. acked is whether Do had
	// returned nil before the power was cut.
	Check func(f *FS, acked bool) error
}

// stateLimit bounds the states per crash point.
const stateLimit = 4000

// CrashEvery cuts the power before every operation of the case and after its
// acknowledgement, and checks every disk that this may leave. It returns the
// number of states.
func CrashEvery(t TB, m Model, c Case) int {
	t.Helper()
	states, bad := crashRun(m, c, -1)
	if bad != nil {
		t.Errorf("model %s: %v", m.Name, bad)
	}
	return states
}

// crashRun is one run of the case; the skip-th sync is left out (-1: none). It
// stops at the first bad state.
func crashRun(m Model, c Case, skip int) (states int, bad error) {
	f := New(m)
	c.Setup(f)
	tap := NewTap(f)
	syncs := 0
	tap.Before = func(k int, op Op) Action {
		if op.Changes() && bad == nil {
			states += f.Crashes(stateLimit, func(after *FS) bool {
				if err := c.Check(after, false); err != nil {
					bad = fmt.Errorf("power cut before operation %d (%s): %w\n%s\ndone before:\n%s", k, op.Text, err, after.Tree(), tap.Trace())
				}
				return bad == nil
			})
		}
		if op.Kind == "sync" || op.Kind == "syncdir" {
			syncs++
			return Action{Skip: syncs-1 == skip}
		}
		return Action{}
	}
	if err := c.Do(tap); err != nil {
		return states, fmt.Errorf("the operation failed without a fault: %w", err)
	}
	if bad == nil {
		states += f.Crashes(stateLimit, func(after *FS) bool {
			if err := c.Check(after, true); err != nil {
				bad = fmt.Errorf("power cut after the acknowledgement: %w\n%s\ndone before:\n%s", err, after.Tree(), tap.Trace())
			}
			return bad == nil
		})
	}
	return states, bad
}

// Mutants leaves out each sync of the case in turn and demands that the check
// notices: a sync that nothing misses is either not needed or not tested. allow
// names, by their trace line, those that are known to be there for something
// that the case does not show. It returns how many there were.
func Mutants(t TB, m Model, c Case, allow ...string) int {
	t.Helper()
	f := New(m)
	c.Setup(f)
	tap := NewTap(f)
	if err := c.Do(tap); err != nil {
		t.Fatalf("the operation failed without a fault: %v", err)
	}
	n := 0
	for _, op := range tap.Ops() {
		if op.Kind != "sync" && op.Kind != "syncdir" {
			continue
		}
		_, bad := crashRun(m, c, n)
		if bad == nil && !slices.Contains(allow, op.Text) {
			t.Errorf("model %s: sync %d (%s) can be left out and no check notices", m.Name, n, op.Text)
		}
		n++
	}
	if n == 0 {
		t.Errorf("model %s: the operation never syncs", m.Name)
	}
	return n
}

// errnos are what each kind of operation is made to answer.
func errnos(kind string) []syscall.Errno {
	switch kind {
	case "create", "mkdir":
		return []syscall.Errno{syscall.ENOSPC, syscall.EACCES, syscall.EROFS, syscall.EMFILE, syscall.EIO}
	case "write":
		return []syscall.Errno{syscall.ENOSPC, syscall.EIO, syscall.EFBIG}
	case "sync":
		return []syscall.Errno{syscall.EIO, syscall.ENOSPC}
	case "syncdir":
		return []syscall.Errno{syscall.EIO, syscall.ENOSPC, syscall.EINVAL}
	case "rename", "renamenew", "link":
		return []syscall.Errno{syscall.EIO, syscall.EACCES, syscall.ENOSPC, syscall.EROFS}
	case "unlink", "rmdir", "chmod":
		return []syscall.Errno{syscall.EPERM, syscall.EIO, syscall.EROFS}
	}
	return []syscall.Errno{syscall.EIO, syscall.EACCES}
}

// Fault is one injected failure.
type Fault struct {
	At         int // index of the operation
	Op         Op
	Errno      syscall.Errno
	Persistent bool // every later operation of the same kind fails too
}

func (f Fault) String() string {
	return fmt.Sprintf("operation %d (%s) answers %v, persistent %v", f.At, f.Op.Text, f.Errno, f.Persistent)
}

// Sweep runs the case once for every operation, every errno it can answer, one
// time and from then on, and gives each outcome to check. A failed sync loses
// the data, as on Linux. It returns the number of faults.
func Sweep(t TB, m Model, setup func(*FS), do func(fsops.Table) error, check func(f *FS, fault Fault, err error, ops []Op) error) int {
	t.Helper()
	clean := New(m)
	setup(clean)
	plan := NewTap(clean)
	if err := do(plan); err != nil {
		t.Fatalf("the operation failed without a fault: %v", err)
	}
	faults := 0
	for k, op := range plan.Ops() {
		for _, no := range errnos(op.Kind) {
			for _, persistent := range []bool{false, true} {
				faults++
				fault := Fault{k, op, no, persistent}
				f := New(m)
				setup(f)
				tap := NewTap(f)
				hit := false
				tap.Before = func(i int, now Op) Action {
					if i != k && !(persistent && i > k && now.Kind == op.Kind) {
						return Action{}
					}
					hit = true
					if now.Kind == "sync" {
						// Let the filesystem itself fail, so that the data is lost.
						f.SyncError = func() error { f.SyncError = nil; return no }
						return Action{}
					}
					return Action{Err: no}
				}
				err := do(tap)
				if !hit {
					t.Errorf("%v was never reached", fault)
				}
				if bad := check(f, fault, err, tap.Ops()); bad != nil {
					t.Errorf("%v: %v\nerror: %v\n%s", fault, bad, err, f.Tree())
				}
			}
		}
	}
	return faults
}
