package handoff

import (
	"context"
	"errors"
	"io/fs"

	"github.com/landfast/landfast/durable"
	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/handoff/ledger"
	"github.com/landfast/landfast/lockx"
)

// retention is how many snapshots stay, newest revision first, beside the
// protected ones.
const retention = 20

const dirMode, fileMode = fs.FileMode(0o700), fs.FileMode(0o600)

// place is the opened and locked state directory of a writer.
type place struct {
	state   *fsx.Dir
	snaps   *fsx.Dir
	project *fsx.Dir // must be synced too where the state directory may be new, else nil
	lock    *lockx.Handle
}

// close releases the lock first: whoever waits for it need not wait for the rest.
func (pl *place) close() {
	if pl.lock != nil {
		_ = pl.lock.Release()
	}
	for _, d := range []*fsx.Dir{pl.state, pl.snaps, pl.project} {
		if d != nil {
			_ = d.Close()
		}
	}
}

// enter makes what is missing of the state directory, opens it and takes the
// lock. Nothing made here is durable before the first save has synced it.
func (p *Project) enter(ctx context.Context, purpose string) (*place, error) {
	pl := &place{}
	snaps, pending, err := p.root.MkdirAllUnsynced(stateDir+"/"+snapshotsDir, dirMode)
	for _, d := range pending {
		_ = d.Close()
	}
	if err != nil {
		return nil, err
	}
	pl.snaps = snaps
	if pl.state, err = p.root.Dir(stateDir); err == nil {
		pl.lock, err = p.lock(ctx, pl.state, purpose, p.o.LockTimeout)
	}
	if err != nil {
		pl.close()
		return nil, err
	}
	return pl, nil
}

// change is one write to the ledger: locked, read, changed, saved, acknowledged.
func (p *Project) change(ctx context.Context, purpose string, f func(*ledger.Ledger, ledger.At) (*ledger.Ledger, error)) error {
	at, _ := p.at(ctx)
	pl, err := p.enter(ctx, purpose)
	if err != nil {
		return err
	}
	defer pl.close()
	ld, err := p.load(pl.state)
	if err != nil {
		return err
	}
	if err := ld.refusal(); err != nil {
		return err
	}
	next, err := f(ld.l, at)
	if err != nil {
		return err
	}
	data, err := next.Encode()
	if err != nil {
		return err
	}
	if err := p.save(ctx, pl, ld, next, data); err != nil {
		return err
	}
	p.afterCommit(pl, next, data, at, durable.SnapshotName(ld.l.Revision, ld.raw))
	return nil
}

// save is the write path in two flush rounds (design.md §8): the snapshot of
// the previous state where it is missing, that of the new one, and the ledger
// as the commit point.
func (p *Project) save(ctx context.Context, pl *place, prev *loaded, next *ledger.Ledger, data []byte) error {
	if prev.state == Empty {
		return p.saveFirst(ctx, pl, next, data)
	}
	snaps := durable.OpenSnapshots(pl.snaps)
	var writes []durable.Write
	stage := func(rev uint64, data []byte) error {
		w := snaps.Stage(rev, data)
		stored, err := p.copyIsSound(ctx, pl, w.Name)
		if err == nil && !stored {
			writes = append(writes, w)
		}
		return err
	}
	if prev.state == Healthy && prev.l.Revision > 0 {
		if err := stage(prev.l.Revision, prev.raw); err != nil {
			return err
		}
	}
	if err := stage(next.Revision, data); err != nil {
		return err
	}
	writes = append(writes, ledgerWrite(pl, data))
	// The snapshot directory always: a copy that is already there may have been
	// made by a process that died before it synced.
	_, err := durable.Sequence(ctx, writes, []*fsx.Dir{pl.snaps}, durable.Options{})
	return err
}

// saveFirst makes the ledger durable before its snapshot exists. The other way
// round, power loss could keep the snapshot alone, and the project would pass
// for one whose ledger is gone. The project directory is synced too: the state
// directory may be new, made by this process or by one that died.
func (p *Project) saveFirst(ctx context.Context, pl *place, next *ledger.Ledger, data []byte) (err error) {
	if pl.project, err = p.root.Dir("."); err != nil {
		return err
	}
	if _, err = durable.Sequence(ctx, []durable.Write{ledgerWrite(pl, data)}, []*fsx.Dir{pl.project}, durable.Options{}); err != nil {
		return err
	}
	// If this fails, the change is committed all the same and only unprotected: an
	// error would report it as lost. Doctor says so, the next command mends it.
	_, _, _ = durable.OpenSnapshots(pl.snaps).Put(ctx, next.Revision, data, durable.Options{})
	return nil
}

func ledgerWrite(pl *place, data []byte) durable.Write {
	return durable.Write{Dir: pl.state, Name: ledgerName, Data: data, Mode: fileMode}
}

// copyIsSound reports whether a snapshot of this name is stored, verified. One
// whose bytes are not those of its name, or that is no file at all, is moved to
// quarantine: a damaged copy must neither block a healthy ledger nor be
// overwritten.
func (p *Project) copyIsSound(ctx context.Context, pl *place, name string) (bool, error) {
	_, err := durable.OpenSnapshots(pl.snaps).Read(name, maxPreserve)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case !isDamagedCopy(err):
		return false, err
	}
	q, err := p.quarantine()
	if err != nil {
		return false, err
	}
	defer q.Close()
	_, err = durable.OpenQuarantine(q).Move(ctx, pl.snaps, name, "snapshot does not match the digest in its name", durable.Options{})
	return false, err
}

// isDamagedCopy reports whether the error of a snapshot read speaks of the copy
// and not of the filesystem.
func isDamagedCopy(err error) bool {
	for _, target := range []error{durable.ErrDamaged, fsx.ErrLink, fsx.ErrNotRegular, fsx.ErrTooLarge, fs.ErrPermission} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// quarantine makes and opens the quarantine directory, durably: what is moved
// there must not vanish with it.
func (p *Project) quarantine() (*fsx.Dir, error) {
	d, _, err := p.root.MkdirAll(stateDir+"/"+quarantineDir, dirMode)
	return d, err
}

// afterCommit does what may fail without harm once the change is acknowledged:
// prune, sweep, preview. All of it still under the lock, so that every staged
// file of the ledger found here belongs to a dead writer.
// What stayed of old snapshots is the answer, nil if nothing did.
func (p *Project) afterCommit(pl *place, l *ledger.Ledger, data []byte, at ledger.At, protect ...string) (warning *string) {
	protect = append(protect, durable.SnapshotName(l.Revision, data))
	warning = prune(pl, protect...)
	sweepLeftovers(pl)
	p.refreshPreview(pl.state, l, at)
	return warning
}

// prune removes old snapshots and says what could not be removed.
func prune(pl *place, protect ...string) (warning *string) {
	if _, err := durable.OpenSnapshots(pl.snaps).Prune(retention, maxPreserve, protect...); err != nil {
		text := "old snapshots could not be removed: " + err.Error()
		return &text
	}
	return nil
}

// sweepLeftovers removes the staged files of killed writers. The caller holds
// the ledger's lock, which every writer of these names needs.
func sweepLeftovers(pl *place) {
	_, _ = pl.state.Sweep(fsx.SweepOptions{OwnersGone: true, Match: func(target string) bool {
		return target == ledgerName || target == previewName
	}})
	_, _ = pl.snaps.Sweep(fsx.SweepOptions{OwnersGone: true, Match: isSnapshotTarget})
}

// isSnapshotTarget reports whether a staged file was to become a snapshot.
func isSnapshotTarget(target string) bool {
	_, _, ok := durable.ParseSnapshotName(target)
	return ok
}
