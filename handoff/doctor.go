package handoff

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/landfast/landfast/durable"
	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/handoff/ledger"
	"github.com/landfast/landfast/lockx"
)

// Finding is one thing that doctor noticed.
type Finding struct {
	Code     string `json:"code"`
	Severity string `json:"severity"` // error, warning, info
	Path     string `json:"path,omitempty"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
}

func (f Finding) isError() bool { return f.Severity == "error" }

// standsInTheWay reports whether backup and recover would be refused over it.
func (f Finding) standsInTheWay() bool {
	return f.Code == codeStateDir || f.Code == codeSnapshotsDir || f.Code == codeQuarantineDir || f.Code == codeLock
}

// SnapshotInfo is one verified snapshot.
type SnapshotInfo struct {
	ID       string    `json:"id"`
	Revision uint64    `json:"revision"`
	SavedAt  time.Time `json:"saved_at"`
}

// Health is what doctor found.
type Health struct {
	State            State          `json:"state"`
	Healthy          bool           `json:"healthy"`
	Revision         uint64         `json:"revision"`
	RecoveryID       *string        `json:"recovery_id"` // null where there was no recovery
	Protected        bool           `json:"protected"`   // a verified snapshot of the present state exists
	Snapshots        []SnapshotInfo `json:"snapshots"`   // newest revision first
	InvalidSnapshots []string       `json:"invalid_snapshots"`
	Retention        int            `json:"retention"`
	LocalOnly        bool           `json:"local_only"`
	Next             string         `json:"next"`
	Findings         []Finding      `json:"findings"`
}

// Doctor looks at everything and changes nothing; it takes no lock and works on
// a read-only checkout. An unwell ledger is a Health, not an error.
func (p *Project) Doctor(ctx context.Context) (Health, error) {
	h, err := p.doctor()
	return h, classify("doctor", err)
}

func (p *Project) doctor() (Health, error) {
	h := Health{
		State: Empty, Retention: retention, LocalOnly: true,
		Snapshots: []SnapshotInfo{}, InvalidSnapshots: []string{}, Findings: []Finding{},
	}
	state, err := p.openState()
	if err != nil {
		if !isUnsafePlace(err) {
			return h, err
		}
		h.State = Damaged
		h.findUnusable(codeStateDir, stateDir, err)
		h.advise()
		return h, nil
	}
	if state == nil {
		h.advise()
		return h, nil
	}
	defer state.Close()
	ld, err := p.load(state)
	if err != nil && !isUnsafePlace(err) {
		return h, err
	}
	if err != nil {
		ld = &loaded{state: Damaged, code: codeMissing, why: "is gone, and the snapshots can't be listed"}
	}
	h.State = ld.state
	if ld.code != "" {
		hint := "landfast handoff recover shows what can be restored"
		if ld.code == codeNewer {
			hint = hintNewer
		}
		h.find(ld.code, "error", stateDir+"/"+ledgerName, ledgerName+" "+ld.why, hint)
	}
	h.looksAtSnapshots(p, ld)
	if ld.state == Healthy {
		h.Revision = ld.l.Revision
		if id := ld.l.RecoveryID; id != "" {
			h.RecoveryID = &id
		}
		h.looksAtSize(len(ld.raw))
	}
	h.looksAtLeftovers(state, stateDir)
	h.looksAtQuarantine(p)
	h.looksAtPreview(state)
	h.looksAtLock(state)
	h.Healthy = h.State == Healthy && (h.Protected || h.Revision == 0) && !slices.ContainsFunc(h.Findings, Finding.isError)
	h.advise()
	return h, nil
}

func isUnsafePlace(err error) bool {
	return errors.Is(err, fsx.ErrLink) || errors.Is(err, fsx.ErrNotDir) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fsx.ErrTooMany)
}

func (h *Health) find(code, severity, path, message, hint string) {
	h.Findings = append(h.Findings, Finding{Code: code, Severity: severity, Path: path, Message: message, Hint: hint})
}

// Finding codes of what stands in the way of a repair.
const (
	codeSnapshotsDir  = "snapshots-unsafe"
	codeQuarantineDir = "quarantine-unsafe"
	codeLock          = "lock-unsafe"
)

// findUnusable names something that is there and can't be used. What is only
// closed to this user must not be advised away.
func (h *Health) findUnusable(code, path string, err error) {
	hint := "move it away; it is never followed, and made again where it is needed"
	if errors.Is(err, fs.ErrPermission) {
		hint = "this user may not use it; look at its owner and modes, and leave it where it is"
	}
	h.find(code, "error", path, path+" can't be used: "+cause(err).Error(), hint)
}

// looksAtSnapshots verifies every copy: its digest, and that it is a ledger of
// the revision it says.
func (h *Health) looksAtSnapshots(p *Project, ld *loaded) {
	at := stateDir + "/" + snapshotsDir
	snaps, err := p.openSub(snapshotsDir)
	if err != nil {
		h.findUnusable(codeSnapshotsDir, at, err)
		return
	}
	if snaps == nil {
		if ld.state == Healthy && ld.l.Revision > 0 {
			h.find("snapshot-missing", "error", at, "there is no snapshot of the present state", "landfast handoff backup makes one")
		}
		return
	}
	defer snaps.Close()
	s := durable.OpenSnapshots(snaps)
	list, err := s.List(maxSnapshotEntries)
	if err != nil {
		h.find("snapshots-unreadable", "error", at, cause(err).Error(), "")
		return
	}
	ids := map[string]int{}
	for _, c := range list.Found {
		l, err := verifyCopy(s, c)
		if err != nil {
			h.InvalidSnapshots = append(h.InvalidSnapshots, c.Name)
			h.find("snapshot-damaged", "error", at+"/"+c.Name, "this copy can't be restored: "+err.Error(),
				"it is never used; landfast handoff backup moves it to quarantine")
			continue
		}
		ids[l.LedgerID]++
		h.Snapshots = append(h.Snapshots, SnapshotInfo{ID: c.Name, Revision: c.Revision, SavedAt: c.SavedAt.UTC()})
		if ld.state == Healthy && c.Name == durable.SnapshotName(ld.l.Revision, ld.raw) {
			h.Protected = true
		}
	}
	if len(ids) > 1 || ld.state == Healthy && len(ids) == 1 && ids[ld.l.LedgerID] == 0 {
		h.find("snapshot-of-another-ledger", "warning", at, fmt.Sprintf("the snapshots are of %d ledgers", max(len(ids), 2)), "recover offers only those of this project's own; a named one is restored all the same")
	}
	if ld.state == Healthy && ld.l.Revision > 0 && !h.Protected {
		h.find("snapshot-missing", "error", at, "there is no snapshot of the present state", "landfast handoff backup makes one")
	}
	if n := len(list.Foreign); n > 0 {
		h.find("foreign-file", "info", at+"/"+list.Foreign[0], fmt.Sprintf("%d entries that are no snapshots; they are left alone", n), "")
	}
	h.looksAtLeftovers(snaps, at)
}

// verifyCopy checks a snapshot as recovery would.
func verifyCopy(s *durable.Snapshots, c durable.Snapshot) (*ledger.Ledger, error) {
	data, err := s.Read(c.Name, maxPreserve)
	if err != nil {
		return nil, cause(err)
	}
	l, err := ledger.Parse(data)
	if err != nil {
		return nil, err
	}
	if l.Revision != c.Revision {
		return nil, fmt.Errorf("its name says revision %d, its content %d", c.Revision, l.Revision)
	}
	return l, nil
}

// looksAtSize warns while there is still room to get out.
func (h *Health) looksAtSize(size int) {
	if percent := size * 100 / ledger.MaxBytes; percent >= 80 {
		h.find("ledger-nearly-full", "warning", stateDir+"/"+ledgerName,
			fmt.Sprintf("%d of %d bytes are used (%d %%)", size, ledger.MaxBytes, percent), "start to plan for a compaction")
	}
}

// looksAtLeftovers counts the staged files of killed writers. They are no ill
// health: the next writer sweeps them.
func (h *Health) looksAtLeftovers(d *fsx.Dir, at string) {
	es, err := d.List(maxSnapshotEntries)
	if err != nil {
		h.find("directory-unreadable", "warning", at, cause(err).Error(), "")
		return
	}
	n, last := 0, ""
	for _, e := range es {
		if _, _, ok := fsx.ParseTempName(e.Name); ok {
			n, last = n+1, e.Name
		}
	}
	if n > 0 {
		h.find("leftover", "info", at+"/"+last, fmt.Sprintf("%d staged files of writers that are at work or were killed", n), "the next change removes those of killed ones")
	}
}

// looksAtQuarantine says when nothing could be set aside: no recovery then.
func (h *Health) looksAtQuarantine(p *Project) {
	q, err := p.openSub(quarantineDir)
	if err != nil {
		h.findUnusable(codeQuarantineDir, stateDir+"/"+quarantineDir, err)
	}
	if q != nil {
		_ = q.Close()
	}
}

// looksAtPreview says when HANDOFF.md can't be refreshed.
func (h *Health) looksAtPreview(state *fsx.Dir) {
	_, err := state.ReadFile(previewName, maxPreview)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.find("preview-blocked", "warning", stateDir+"/"+previewName, "the preview can't be refreshed: "+cause(err).Error(), "move it away; it is made again")
	}
}

// looksAtLock tells who is at work, for a person who wonders why writes wait.
func (h *Health) looksAtLock(state *fsx.Dir) {
	info, err := lockx.Inspect(state, lockName)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			h.findUnusable(codeLock, stateDir+"/"+lockName, err)
		}
		return
	}
	if info.State == lockx.StateHeld {
		who := "another process"
		if info.Recorded && info.Record.Held {
			who = fmt.Sprintf("process %d (%s) since %s", info.Record.PID, info.Record.Purpose, info.Record.Acquired.Format(time.RFC3339))
		}
		h.find("locked", "info", stateDir+"/"+lockName, "the ledger is locked by "+who, "")
	}
}

// advise says the one thing to do next.
func (h *Health) advise() {
	switch {
	case slices.ContainsFunc(h.Findings, Finding.standsInTheWay):
		h.Next = "first mend what the findings say can't be used"
	case slices.ContainsFunc(h.Findings, func(f Finding) bool { return f.Code == codeNewer }):
		h.Next = hintNewer
	case h.State == Empty:
		h.Next = "nothing is recorded yet; landfast handoff record begins"
	case h.State == Healthy && h.Healthy:
		h.Next = "nothing to do"
	case h.State == Healthy && (!h.Protected || len(h.InvalidSnapshots) > 0):
		h.Next = "run landfast handoff backup"
	case h.State == Healthy:
		h.Next = "look at the findings"
	case len(h.Snapshots) > 0:
		h.Next = "run landfast handoff recover for a preview"
	default:
		h.Next = "no copy can restore it here; keep the file and look for a copy elsewhere"
	}
}
