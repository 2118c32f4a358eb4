package handoff

import (
	"context"
	"errors"
	"io/fs"

	"github.com/landfast/landfast/durable"
	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/handoff/gitinfo"
	"github.com/landfast/landfast/handoff/ledger"
)

// Resumed is the current branch's view of the ledger, as resume prints it.
type Resumed struct {
	ledger.View
	// Git says in one line why branch or head is not known, "" where both are.
	Git string `json:"git,omitempty"`
}

// Resume reads the ledger without a lock, so it works beside a writer and on a
// read-only checkout. A project that was never set up gives an empty view and
// stays untouched. Where the lock is free at once and the place is writable, a
// missing snapshot of the present state is made and the preview brought up to
// date; if not, nothing is said: the answer is complete without them.
func (p *Project) Resume(ctx context.Context) (Resumed, error) {
	r, err := p.resume(ctx)
	return r, classify("resume", err)
}

func (p *Project) resume(ctx context.Context) (Resumed, error) {
	state, err := p.openState()
	if err != nil {
		return Resumed{}, err
	}
	if state != nil {
		defer state.Close()
	}
	ld, err := p.load(state)
	if err != nil {
		return Resumed{}, err
	}
	if err := ld.refusal(); err != nil {
		return Resumed{}, err
	}
	at, git := p.at(ctx)
	if ld.state == Healthy {
		p.tidy(ctx, state, ld, at)
	}
	return Resumed{View: viewOf(ld.l, at), Git: gitLine(git)}, nil
}

// viewOf is the ledger as seen from a branch.
func viewOf(l *ledger.Ledger, at ledger.At) ledger.View {
	v := l.View(at.Branch)
	v.Head = at.Head
	return v
}

// gitLine names the states in which branch or head is not what one would
// expect, so that nobody wonders where records went.
func gitLine(g gitinfo.Info) string {
	switch g.State {
	case gitinfo.Unborn:
		return "the branch has no commit yet"
	case gitinfo.Detached:
		return "no branch is checked out; branch records are filed under none"
	case gitinfo.Foreign, gitinfo.Unreadable:
		return g.Reason
	}
	return ""
}

// tidy makes the snapshot of the present state if it is missing and refreshes
// the preview if it says something else. Best effort, without waiting.
func (p *Project) tidy(ctx context.Context, state *fsx.Dir, ld *loaded, at ledger.At) {
	needsCopy := ld.l.Revision > 0 && !p.hasSnapshot(durable.SnapshotName(ld.l.Revision, ld.raw))
	if !needsCopy && previewIsCurrent(state, ld.l, at) {
		return
	}
	lock, err := p.lock(ctx, state, "resume", -1)
	if err != nil {
		return
	}
	defer lock.Release()
	now, err := p.load(state)
	if err != nil || now.state != Healthy {
		return
	}
	if now.l.Revision > 0 {
		snaps, _, err := p.root.MkdirAll(stateDir+"/"+snapshotsDir, dirMode)
		if err == nil {
			// Reported by doctor if it did not work; a read is not failed for it.
			_, _, _ = durable.OpenSnapshots(snaps).Put(ctx, now.l.Revision, now.raw, durable.Options{})
			_ = snaps.Close()
		}
	}
	p.refreshPreview(state, now.l, at)
}

// hasSnapshot reports whether a snapshot of this name is there, unverified.
func (p *Project) hasSnapshot(name string) bool {
	snaps, err := p.openSub(snapshotsDir)
	if err != nil || snaps == nil {
		return false
	}
	defer snaps.Close()
	_, err = snaps.Lstat(name)
	return !errors.Is(err, fs.ErrNotExist)
}
