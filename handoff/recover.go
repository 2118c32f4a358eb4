package handoff

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/landfast/landfast/durable"
	"github.com/landfast/landfast/handoff/ledger"
	"github.com/landfast/landfast/internal/fsops"
)

// RecoverOptions say what to restore and whether to do it.
type RecoverOptions struct {
	Snapshot string // name of a snapshot; default: the newest valid one
	Apply    bool   // do it; without, only preview
	Expect   string // with Apply: the fingerprint that the preview gave
}

// Recovery is the preview of a recovery and, once applied, its result.
type Recovery struct {
	CurrentState    State    `json:"current_state"`
	CurrentRevision *uint64  `json:"current_revision"` // null where the ledger can't be read
	Source          string   `json:"source"`
	RestoreRevision uint64   `json:"restore_revision"`
	Branches        []string `json:"branches"`
	Records         int      `json:"records"`
	Checks          int      `json:"checks"`
	Expect          string   `json:"expect"`
	Applied         bool     `json:"applied"`
	Message         string   `json:"message"`
	Preserved       *string  `json:"preserved"` // where the present bytes were set aside; null before, and where there was nothing
	RecoveryID      string   `json:"recovery_id,omitempty"`
	CleanupWarning  *string  `json:"cleanup_warning"` // old snapshots that could not be removed
}

// Recover previews the restoring of a snapshot, or does exactly what was
// previewed. The fingerprint covers the project, what lies in the ledger's place
// and the snapshot: if any of them changed, nothing is done (conflict). What
// lies in the ledger's place is set aside in quarantine first: a readable file
// as a copy, anything else (a link, a directory, an unreadable file) by moving it
// there as it is. After a recovery every write must carry the new recovery id.
func (p *Project) Recover(ctx context.Context, o RecoverOptions) (Recovery, error) {
	r, err := p.recoverFrom(ctx, o)
	return r, classify("recover", err)
}

func (p *Project) recoverFrom(ctx context.Context, o RecoverOptions) (Recovery, error) {
	if !o.Apply {
		plan, err := p.planRecovery(o.Snapshot)
		if err != nil {
			return Recovery{}, err
		}
		return plan.preview, nil
	}
	if o.Expect == "" {
		return Recovery{}, &Error{Code: Usage, Message: "recover: applying needs the fingerprint of a preview", Hint: "preview first, then pass what it printed as expect"}
	}
	// Before anything is made or locked: a wrong fingerprint changes nothing.
	plan, err := p.planRecovery(o.Snapshot)
	if err != nil {
		return Recovery{}, err
	}
	if plan.preview.Expect != o.Expect {
		return Recovery{}, staleFingerprint()
	}
	pl, err := p.enter(ctx, "recover")
	if err != nil {
		return Recovery{}, err
	}
	defer pl.close()
	if plan, err = p.planRecovery(o.Snapshot); err != nil {
		return Recovery{}, err
	}
	if plan.preview.Expect != o.Expect {
		return Recovery{}, staleFingerprint()
	}
	return p.applyRecovery(ctx, pl, plan)
}

func staleFingerprint() error {
	return &Error{Code: Stale, Message: "recover: the fingerprint is not that of the present state and source; nothing was changed", Hint: "preview again and decide on what it shows"}
}

// recoveryPlan is a preview and what it was made of.
type recoveryPlan struct {
	preview Recovery
	current *loaded
	source  *ledger.Ledger
}

func (p *Project) planRecovery(snapshot string) (*recoveryPlan, error) {
	state, err := p.openState()
	if err != nil {
		return nil, err
	}
	if state == nil {
		return nil, refusedf("", "recover: there is no %s here and no copy to restore from", stateDir)
	}
	defer state.Close()
	current, err := p.load(state)
	if err != nil {
		return nil, err
	}
	if current.code == codeNewer {
		return nil, current.refusal()
	}
	own := ""
	if current.state == Healthy {
		own = current.l.LedgerID
	}
	source, data, name, others, err := p.chooseSource(snapshot, own)
	if err != nil {
		return nil, err
	}
	r := Recovery{
		CurrentState: current.state, Source: name, RestoreRevision: source.Revision,
		Branches: branchesOf(source), Records: len(source.Records), Checks: len(source.Checks),
	}
	if current.l != nil {
		rev := current.l.Revision
		r.CurrentRevision = &rev
	}
	if r.Expect, err = fingerprint(p.Root(), current, data); err != nil {
		return nil, err
	}
	r.Message = fmt.Sprintf("a preview, nothing was changed: revision %d would take the place of the present state (%s)", r.RestoreRevision, r.CurrentState)
	if current.exists {
		r.Message += ", which would be set aside first"
	}
	if own != "" && own != source.LedgerID {
		r.Message += "; it is of another ledger than the present one"
	}
	if others > 0 {
		r.Message += fmt.Sprintf("; %d snapshots of other ledgers were passed over", others)
	}
	return &recoveryPlan{preview: r, current: current, source: source}, nil
}

// fingerprint binds a preview to the project, what is there, and the source.
func fingerprint(root string, current *loaded, source []byte) (string, error) {
	sum := sha256.Sum256(source)
	b, err := json.Marshal([]string{root, current.fingerprint(), hex.EncodeToString(sum[:])})
	if err != nil {
		return "", err
	}
	all := sha256.Sum256(b)
	return hex.EncodeToString(all[:]), nil
}

// candidate is a snapshot that could be restored.
type candidate struct {
	name string
	data []byte
	l    *ledger.Ledger
}

// chooseSource reads the named snapshot, or the newest valid one of the ledger
// own: of the youngest recovery generation the highest revision. Where own is
// not known, because the present ledger can't be read, it is the ledger that
// more than half of the snapshots are of; others gives how many were passed over
// as of other ledgers. Damaged copies are passed over; modification times mean
// nothing (a plain copy of the folder changes them).
func (p *Project) chooseSource(name, own string) (l *ledger.Ledger, data []byte, id string, others int, err error) {
	snaps, err := p.openSub(snapshotsDir)
	if err != nil {
		return nil, nil, "", 0, err
	}
	if snaps == nil {
		return nil, nil, "", 0, refusedf("", "recover: there is no snapshot here")
	}
	defer snaps.Close()
	s := durable.OpenSnapshots(snaps)
	if name != "" {
		l, data, err := namedSource(s, name)
		return l, data, name, 0, err
	}
	all, err := validCopies(s)
	if err != nil {
		return nil, nil, "", 0, err
	}
	if len(all) == 0 {
		return nil, nil, "", 0, refusedf("landfast handoff doctor names the damaged copies", "recover: no valid snapshot is left here")
	}
	mine := ofLedger(all, own)
	if len(mine) == 0 {
		return nil, nil, "", 0, refusedf("name the snapshot to restore; landfast handoff doctor lists them", "recover: the %d snapshots here are of other ledgers, or of several without a majority", len(all))
	}
	newest := map[string]string{} // recovery id → latest updated_at
	for _, c := range mine {
		newest[c.l.RecoveryID] = max(newest[c.l.RecoveryID], c.l.UpdatedAt)
	}
	best := &mine[0]
	for i := range mine {
		if newer(&mine[i], best, newest) {
			best = &mine[i]
		}
	}
	return best.l, best.data, best.name, len(all) - len(mine), nil
}

// namedSource reads the snapshot that somebody asked for.
func namedSource(s *durable.Snapshots, name string) (*ledger.Ledger, []byte, error) {
	if _, _, ok := durable.ParseSnapshotName(name); !ok {
		return nil, nil, refusedf("landfast handoff doctor --json lists the usable ones", "recover: %q is not the name of a snapshot", clip(name))
	}
	data, err := s.Read(name, maxPreserve)
	if err != nil {
		return nil, nil, &Error{Code: Refused, Message: "recover: this snapshot can't be used: " + err.Error(), Hint: "landfast handoff doctor --json lists the usable ones", Err: err}
	}
	l, err := ledger.Parse(data)
	if err != nil {
		return nil, nil, &Error{Code: Refused, Message: "recover: this snapshot is not a valid ledger: " + err.Error(), Err: err}
	}
	return l, data, nil
}

// clip keeps an argument short in a message.
func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}

// validCopies reads every snapshot that could be restored.
func validCopies(s *durable.Snapshots) ([]candidate, error) {
	list, err := s.List(maxSnapshotEntries)
	if err != nil {
		return nil, err
	}
	var all []candidate
	for _, c := range list.Found {
		data, err := s.Read(c.Name, maxPreserve)
		if err != nil {
			continue
		}
		l, err := ledger.Parse(data)
		if err != nil || l.Revision != c.Revision || l.Revision == 0 {
			continue
		}
		all = append(all, candidate{name: c.Name, data: data, l: l})
	}
	return all, nil
}

// ofLedger are the copies of one ledger: own, or, where that is "", the one that
// more than half are of.
func ofLedger(all []candidate, own string) []candidate {
	if own == "" {
		count := map[string]int{}
		for _, c := range all {
			if count[c.l.LedgerID]++; 2*count[c.l.LedgerID] > len(all) {
				own = c.l.LedgerID
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(c candidate) bool { return own == "" || c.l.LedgerID != own })
}

// newer reports whether a is to be preferred to b. Timestamps are written in
// one fixed form, so comparing them as strings compares the times.
func newer(a, b *candidate, newest map[string]string) bool {
	if ga, gb := newest[a.l.RecoveryID], newest[b.l.RecoveryID]; ga != gb {
		return ga > gb
	}
	if a.l.Revision != b.l.Revision {
		return a.l.Revision > b.l.Revision
	}
	return a.l.UpdatedAt > b.l.UpdatedAt
}

func branchesOf(l *ledger.Ledger) []string {
	seen := map[string]bool{}
	out := []string{}
	for _, r := range l.Records {
		if r.Branch != nil && !seen[*r.Branch] {
			seen[*r.Branch] = true
			out = append(out, *r.Branch)
		}
	}
	slices.Sort(out)
	return out
}

// applyRecovery sets aside, restores, acknowledges. A crash in between leaves
// the present state, or, where it had to be moved, a missing ledger that the
// same recovery restores.
func (p *Project) applyRecovery(ctx context.Context, pl *place, plan *recoveryPlan) (Recovery, error) {
	at, _ := p.at(ctx)
	r := plan.preview
	next := plan.source.Recovered(newUUID(), at.Now)
	data, err := next.Encode()
	if err != nil {
		return r, err
	}
	kept, err := p.setAside(ctx, pl, plan.current)
	if err != nil {
		return r, err
	}
	if err := p.save(ctx, pl, plan.current, next, data); err != nil {
		var e *Error
		err = classify("recover", err)
		if errors.As(err, &e) && kept != nil {
			e.Message += "; what was there is kept as " + *kept
		}
		return r, err
	}
	r.Applied, r.Preserved, r.RecoveryID = true, kept, next.RecoveryID
	r.Message = fmt.Sprintf("revision %d is restored; every later write must carry recovery id %s", next.Revision, next.RecoveryID)
	var protect []string
	if plan.current.state == Healthy {
		protect = append(protect, durable.SnapshotName(plan.current.l.Revision, plan.current.raw))
	}
	r.CleanupWarning = p.afterCommit(pl, next, data, at, protect...)
	return r, nil
}

// setAside preserves what lies in the ledger's place. nil where nothing does.
func (p *Project) setAside(ctx context.Context, pl *place, current *loaded) (*string, error) {
	if !current.exists {
		return nil, nil
	}
	qd, err := p.quarantine()
	if err != nil {
		return nil, err
	}
	defer qd.Close()
	q := durable.OpenQuarantine(qd)
	var kept durable.Preserved
	if current.info.Kind == fsops.Regular && current.raw != nil {
		kept, err = q.Keep(ctx, ledgerName, current.raw, "replaced by a recovery", durable.Options{})
	} else {
		kept, err = q.Move(ctx, pl.state, ledgerName, "in the ledger's place: "+current.why, durable.Options{})
	}
	if err != nil {
		return nil, err
	}
	path := stateDir + "/" + quarantineDir + "/" + kept.Name
	return &path, nil
}
