package durable

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/landfast/landfast/fsx"
)

// Write is one file of a [Sequence].
type Write struct {
	Dir  *fsx.Dir    // Required
	Name string      // Required
	Data []byte      // Required, may be empty
	Mode fs.FileMode // as in [fsx.Options]
	// New publishes the file only where the name is free; a taken name ends the
	// sequence with fs.ErrExist.
	New bool
	// Same, with New, takes an existing file of exactly these bytes for done.
	Same bool
}

// Sequence writes several files in a fixed order with two rounds of flushes: it
// stages and syncs all of them, publishes them one after the other, and then
// syncs every directory that was written to, and those in alsoSync, once. The
// last file is the commit point by convention: whoever reads it may rely on
// those before it only after an acknowledgement, because before the directory
// syncs power loss can keep any subset of the names.
//
// Of o, Mode and Flush don't count: each write has its mode, and everything is
// flushed. A Need above Ordered costs one flush of each directory beforehand.
//
// If staging or a sync fails, nothing is published. If a publish fails, those
// before it stay. The error is an [fsx.PublishError] about the file it names;
// its state speaks of that file. A failed directory sync is reported for the
// last file of that directory as VisibleNotDurable.
func Sequence(ctx context.Context, writes []Write, alsoSync []*fsx.Dir, o Options) (fsx.Receipt, error) {
	staged := make([]*fsx.Temp, len(writes))
	defer func() {
		for _, t := range staged {
			if t != nil {
				_ = t.Abort() // does nothing for those that were published
			}
		}
	}()
	o.Flush = fsx.FlushFile
	need := o.Need
	o.Need = min(need, fsx.Ordered) // the directories are synced below
	if err := checkNeed(flushes(writes, alsoSync), need); err != nil {
		return fsx.Receipt{}, err
	}
	for i, w := range writes {
		if w.New && w.Same {
			done, err := sameExists(w)
			if err != nil {
				return fsx.Receipt{}, publishError(fsx.StepOpen, fsx.NotPublished, target{w.Dir, w.Name}, err)
			}
			if done {
				continue
			}
		}
		o.Mode = w.Mode
		t, err := w.Dir.CreateTemp(w.Name, o)
		if err != nil {
			return fsx.Receipt{}, err
		}
		staged[i] = t
		if _, err := t.Write(w.Data); err != nil {
			return fsx.Receipt{}, errors.Join(err, t.Abort())
		}
	}
	for _, t := range staged {
		if t == nil {
			continue
		}
		if err := t.Sync(); err != nil {
			return fsx.Receipt{}, errors.Join(err, t.Abort())
		}
	}
	rec := fsx.Receipt{Guarantee: fsx.Durable, Attempts: 1}
	for i, w := range writes {
		if staged[i] == nil {
			continue
		}
		publish := staged[i].Replace
		if w.New {
			publish = staged[i].PublishNew
		}
		r, err := publish(ctx)
		if w.New && w.Same && errors.Is(err, fs.ErrExist) {
			// Somebody published the name since it was looked at. Taking the same
			// bytes for other ones would be a false alarm of damage.
			if done, serr := sameExists(w); serr == nil && done {
				continue
			}
		}
		if err != nil {
			return fsx.Receipt{}, err
		}
		r.Guarantee = sequenceGuarantee(r)
		rec = rec.Merge(r)
	}
	return syncAll(flushes(writes, alsoSync), rec)
}

// target is a file whose directory is to be synced, or the directory itself (".").
type target struct {
	dir  *fsx.Dir
	name string
}

// flushes is the directory syncs of a sequence: each directory once, in the
// order of last use, so that the one of the commit point comes after the others.
func flushes(writes []Write, alsoSync []*fsx.Dir) []target {
	var all []target
	for _, d := range alsoSync {
		all = append(all, target{d, "."})
	}
	for _, w := range writes {
		all = append(all, target{w.Dir, w.Name})
	}
	var once []target
	for i, t := range all {
		if !slices.ContainsFunc(all[i+1:], func(later target) bool { return later.dir == t.dir }) {
			once = append(once, t)
		}
	}
	return once
}

// publishError is about one file; a path that err names itself is not said twice.
func publishError(step fsx.Step, state fsx.State, t target, err error) error {
	if pe, ok := err.(*fs.PathError); ok {
		err = pe.Err
	}
	return &fsx.PublishError{Stage: step, State: state, Path: filepath.Join(t.dir.Path(), t.name), Err: err}
}

// checkNeed refuses a guarantee that one of the directories can't give, before
// anything is staged. Whether a directory can be synced shows only by doing it.
func checkNeed(dirs []target, need fsx.Guarantee) error {
	for _, t := range dirs {
		g := t.dir.Guarantee()
		if g >= need && need > fsx.Ordered {
			ds, err := t.dir.Sync()
			if err != nil {
				return publishError(fsx.StepSyncDir, fsx.NotPublished, t, err)
			}
			if len(ds) > 0 {
				g = fsx.Ordered
			}
		}
		if g < need {
			err := fmt.Errorf("need %v, but filesystem %s gives %v: %w", need, t.dir.FSType(), g, fsx.ErrNeed)
			return publishError(fsx.StepSyncDir, fsx.NotPublished, t, err)
		}
	}
	return nil
}

// sequenceGuarantee is what the publishing of one file leaves possible. It was
// told not to sync the directory and says Ordered for that alone; the sync
// follows for all files together. A file that could not be flushed fully stays
// Ordered whatever follows (D6).
func sequenceGuarantee(r fsx.Receipt) fsx.Guarantee {
	for _, d := range r.Degraded {
		if d.Step == fsx.StepSync {
			return min(r.Guarantee, fsx.Ordered)
		}
	}
	return fsx.Durable
}

// syncAll syncs the directories in their order. The weakest of them, also one
// that got no file, bounds the receipt (D6).
func syncAll(dirs []target, rec fsx.Receipt) (fsx.Receipt, error) {
	for _, t := range dirs {
		rec.Guarantee = min(rec.Guarantee, t.dir.Guarantee())
		ds, err := t.dir.Sync()
		if err != nil {
			return fsx.Receipt{}, publishError(fsx.StepSyncDir, fsx.VisibleNotDurable, t, err)
		}
		if len(ds) > 0 {
			rec = rec.Merge(fsx.Receipt{Guarantee: fsx.Ordered, Degraded: ds})
		}
	}
	return rec, nil
}

// sameExists reports whether the name already holds exactly the bytes. Other
// bytes under the name are left for the publish to refuse.
func sameExists(w Write) (bool, error) {
	got, err := w.Dir.ReadFile(w.Name, int64(len(w.Data)))
	switch {
	case err == nil:
		return bytes.Equal(got, w.Data), nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fsx.ErrTooLarge):
		return false, nil
	}
	return false, err
}
