package lockx

import (
	"errors"
	"io/fs"

	"github.com/landfast/landfast/fsx"
)

// State says whether a lock is held.
type State uint8

// The states. StateUnknown: the kernel couldn't be asked.
const (
	StateUnknown State = iota
	StateFree
	StateHeld
)

// String names the state in lower case.
func (s State) String() string {
	switch s {
	case StateFree:
		return "free"
	case StateHeld:
		return "held"
	}
	return "unknown"
}

// Evidence says what an answer rests on.
type Evidence string

// The kinds of evidence.
const (
	EvidenceNoFile Evidence = "no file"     // nobody ever locked it
	EvidenceList   Evidence = "kernel list" // /proc/locks names a holder
	EvidenceProbe  Evidence = "probe"       // the kernel was asked for the lock and it was given back at once
)

// Info is what [Inspect] found.
type Info struct {
	State    State
	Shared   bool // with StateHeld: by shared holders
	Exists   bool // the file is there, which says nothing about State
	Record   Record
	Recorded bool    // Record is valid; it is of the last exclusive holder
	Damaged  bool    // there is a record and it is not readable; the next holder overwrites it
	Verdict  Verdict // of Record's process
	Reason   string  // of Verdict
	Evidence []Evidence
}

// Crashed reports whether the last exclusive holder ended without releasing.
func (i Info) Crashed() bool {
	return i.Recorded && i.Record.Held && (i.State == StateFree || i.State == StateHeld && i.Shared)
}

// Inspect says who holds the lock name in d. It creates and changes nothing;
// a probe holds the lock for some microseconds, so a try of somebody else may
// find it busy. Errors: those of opening the file for reading.
func Inspect(d *fsx.Dir, name string) (Info, error) {
	f, err := d.OpenFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return Info{State: StateFree, Evidence: []Evidence{EvidenceNoFile}}, nil
	}
	if err != nil {
		return Info{}, lockError("inspect lock", d, name, err)
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return Info{}, lockError("inspect lock", d, name, err)
	}
	info := Info{Exists: true}
	if listed, shared := kernelLists(stat.ID); listed {
		info.State, info.Shared, info.Evidence = StateHeld, shared, []Evidence{EvidenceList}
	} else {
		// Not being listed proves nothing: the holder may be in another pid
		// namespace, the filesystem may show two device numbers.
		info.probe(f)
	}
	info.Record, err = recordOf(f)
	switch {
	case err == nil:
		info.Recorded = true
		info.Verdict, info.Reason = info.Record.Judge()
	case errors.Is(err, errDamagedRecord):
		info.Damaged = true
	case !errors.Is(err, errNoRecord):
		return info, lockError("inspect lock", d, name, err)
	}
	return info, nil
}

// probe asks for the shared lock, then for the exclusive one.
func (i *Info) probe(f *fsx.File) {
	for _, shared := range []bool{true, false} {
		tb, h := f.Handle()
		ok, err := kernelTry(tb, h, shared)
		if err != nil {
			// An exclusive lock through a handle for reading is not given
			// everywhere (NFS): not exclusively held is all that is known then.
			i.State = StateUnknown
			return
		}
		i.Evidence = []Evidence{EvidenceProbe}
		if !ok {
			i.State, i.Shared = StateHeld, !shared
			return
		}
		_ = kernelUnlock(tb, h)
	}
	i.State = StateFree
}
