package handoff

import (
	"context"
	"fmt"

	"github.com/landfast/landfast/durable"
	"github.com/landfast/landfast/fsx"
)

// Backup is the answer of a local backup.
type Backup struct {
	Snapshot       string  `json:"snapshot"`
	Revision       uint64  `json:"revision"`
	Encrypted      bool    `json:"encrypted"`
	CleanupWarning *string `json:"cleanup_warning"` // null where nothing was in the way
	Message        string  `json:"message"`
}

// Backup makes sure that a verified, durable snapshot of the present state
// exists, moves damaged snapshots to quarantine, and prunes. Refused where
// nothing was recorded yet.
func (p *Project) Backup(ctx context.Context) (Backup, error) {
	b, err := p.backup(ctx)
	return b, classify("backup", err)
}

func (p *Project) backup(ctx context.Context) (Backup, error) {
	state, err := p.openState()
	if err != nil {
		return Backup{}, err
	}
	if state != nil {
		_ = state.Close()
	}
	if state == nil {
		return Backup{}, refusedf("record something first", "backup: nothing is recorded yet")
	}
	pl, err := p.enter(ctx, "backup")
	if err != nil {
		return Backup{}, err
	}
	defer pl.close()
	ld, err := p.load(pl.state)
	if err != nil {
		return Backup{}, err
	}
	if err := ld.refusal(); err != nil {
		return Backup{}, err
	}
	if ld.l.Revision == 0 {
		return Backup{}, refusedf("record something first", "backup: nothing is recorded yet")
	}
	name := durable.SnapshotName(ld.l.Revision, ld.raw)
	sound, err := p.copyIsSound(ctx, pl, name)
	if err != nil {
		return Backup{}, err
	}
	rec := fsx.Receipt{Guarantee: pl.snaps.Guarantee()}
	if !sound {
		if _, rec, err = durable.OpenSnapshots(pl.snaps).Put(ctx, ld.l.Revision, ld.raw, durable.Options{}); err != nil {
			return Backup{}, err
		}
	} else if _, err := pl.snaps.Sync(); err != nil {
		return Backup{}, err
	}
	if err := p.setAsideDamagedCopies(ctx, pl); err != nil {
		return Backup{}, err
	}
	b := Backup{Snapshot: name, Revision: ld.l.Revision}
	b.Message = fmt.Sprintf("revision %d is kept in %s/%s (%s)", b.Revision, stateDir, snapshotsDir, rec.Guarantee)
	b.CleanupWarning = prune(pl, name)
	sweepLeftovers(pl)
	return b, nil
}

// setAsideDamagedCopies moves every snapshot whose bytes are not those of its
// name to quarantine, where it no longer passes for one.
func (p *Project) setAsideDamagedCopies(ctx context.Context, pl *place) error {
	list, err := durable.OpenSnapshots(pl.snaps).List(maxSnapshotEntries)
	if err != nil {
		return err
	}
	for _, c := range list.Found {
		if _, err := p.copyIsSound(ctx, pl, c.Name); err != nil {
			return err
		}
	}
	return nil
}
