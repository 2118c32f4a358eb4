package handoff

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/landfast/landfast/internal/testenv"
)

// copySnapshot puts the newest snapshot of one project into another's folder.
func copySnapshot(t *testing.T, from, to string, rev int) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(from, fmt.Sprintf(".landfast/snapshots/r%d-*.json", rev)))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(found[0])
	if err := os.WriteFile(filepath.Join(to, ".landfast/snapshots", name), data, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// A snapshot of another project that found its way into the folder, of a higher
// revision, is not what recovery offers.
func TestSnapshotsOfAnotherLedgerAreNamedAndPassedOver(t *testing.T) {
	ctx := context.Background()
	mine, other := testenv.TempDir(t), testenv.TempDir(t)
	p, q := open(t, mine), open(t, other)
	for i := range 3 {
		record(t, p, goal(fmt.Sprint("mine", i), "text"))
	}
	for i := range 9 {
		record(t, q, goal(fmt.Sprint("other", i), "text"))
	}
	foreign := copySnapshot(t, other, mine, 9)
	isForeign := func(f Finding) bool { return f.Code == "snapshot-of-another-ledger" }
	for _, damage := range []bool{false, true} {
		if damage {
			if err := os.Truncate(filepath.Join(mine, ".landfast/ledger.json"), 0); err != nil {
				t.Fatal(err)
			}
		}
		h, err := p.Doctor(ctx)
		if err != nil || !slices.ContainsFunc(h.Findings, isForeign) {
			t.Errorf("damaged %v: doctor does not say so: %+v, %v", damage, h, err)
		}
		r, err := p.Recover(ctx, RecoverOptions{})
		if err != nil || r.RestoreRevision != 3 || !strings.Contains(r.Message, "1 snapshots of other ledgers were passed over") {
			t.Errorf("damaged %v: offers %+v, %v", damage, r, err)
		}
	}
	if r, err := p.Recover(ctx, RecoverOptions{Snapshot: foreign}); err != nil || r.RestoreRevision != 9 {
		t.Errorf("asked for by name: %+v, %v", r, err)
	}
}

func TestNoMajorityOfSnapshotsIsNotGuessed(t *testing.T) {
	ctx := context.Background()
	mine, other := testenv.TempDir(t), testenv.TempDir(t)
	p, q := open(t, mine), open(t, other)
	record(t, p, goal("mine", "text"))
	record(t, q, goal("other", "text"))
	copySnapshot(t, other, mine, 1)
	if err := os.Remove(filepath.Join(mine, ".landfast/ledger.json")); err != nil {
		t.Fatal(err)
	}
	_, err := p.Recover(ctx, RecoverOptions{})
	e := wantCode(t, err, Refused)
	if !strings.Contains(e.Message, "without a majority") {
		t.Errorf("%v", e)
	}
}
