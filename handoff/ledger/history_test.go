package ledger

import (
	"errors"
	"strings"
	"testing"
)

// rechain gives every entry the prev it would have, so that a rule other than
// the chain's is the one that is broken.
func rechain(t *testing.T, l *Ledger) *Ledger {
	t.Helper()
	prev := ""
	if l.Archive != nil {
		prev = l.Archive.Digest
	}
	for _, e := range l.entries() {
		switch v := e.value.(type) {
		case *Record:
			v.Prev = prev
		case *Check:
			v.Prev = prev
		case *Retraction:
			v.Prev = prev
		}
		form, err := canonical(e.value)
		if err != nil {
			t.Fatal(err)
		}
		prev = digest(form)
	}
	return l
}

// The sample: records at 1, 2, 3, a retraction at 4, a check at 5.
func TestHistoryIsCompleteAndInOrder(t *testing.T) {
	archived := func(count uint64) *Archive { return &Archive{Count: count, Digest: strings.Repeat("e", 64)} }
	for name, row := range map[string]struct {
		change func(l *Ledger)
		field  string // of the refusal; empty: it is accepted
	}{
		"as it is": {func(*Ledger) {}, ""},
		"a gap": {func(l *Ledger) {
			l.Records, l.Revision = l.Records[:2], 5
			l.Retractions[0].Revision, l.Checks[0].Revision = 4, 5
		}, "revision"},
		"a gap, with the right count": {func(l *Ledger) {
			l.Records = l.Records[:2]
			l.Retractions[0].Revision, l.Checks[0].Revision, l.Revision = 3, 5, 4
		}, "checks[0].revision"},
		"the top is below an entry":  {func(l *Ledger) { l.Revision = 4 }, "checks[0].revision"},
		"the top is above the count": {func(l *Ledger) { l.Revision = 6 }, "revision"},
		"two records swapped": {func(l *Ledger) {
			l.Records[0], l.Records[1] = l.Records[1], l.Records[0]
		}, "records[1].revision"},
		"a record and a check share one": {func(l *Ledger) { l.Checks[0].Revision = 3 }, "checks[0].revision"},
		"an entry cut off the end":       {func(l *Ledger) { l.Checks = []Check{} }, "revision"},
		"archived entries count": {func(l *Ledger) {
			l.Archive = archived(2)
			l.Records = l.Records[2:]
		}, ""},
		"archived entries and one too many": {func(l *Ledger) { l.Archive = archived(2) }, "revision"},
		"more archived than there ever were": {func(l *Ledger) {
			l.Archive = archived(6)
		}, "revision"},
		"archived entries and an early one": {func(l *Ledger) {
			l.Archive = archived(2)
			l.Records = l.Records[2:]
			l.Records[0].Revision = 2
		}, "records[0].revision"},
		"everything archived": {func(l *Ledger) {
			l.Archive = archived(5)
			l.Records, l.Checks, l.Retractions = []Record{}, []Check{}, []Retraction{}
		}, ""},
		"an id changes its kind": {func(l *Ledger) {
			l.Records[2].ID = "ship"
			l.Records[2].Tier = TierRepo
		}, "records[2].kind"},
		"an id changes its tier": {func(l *Ledger) {
			l.Records[1].ID, l.Records[1].Kind = "ship", KindGoal
			l.Records[1].Tier = TierBranch
		}, "records[1].tier"},
		"an id has another kind on another branch": {func(l *Ledger) {
			l.Records[1].ID, l.Records[1].Tier, l.Records[1].Branch = "todo", TierBranch, new("dev")
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := Parse(encode(t, sample(t)))
			if err != nil {
				t.Fatal(err)
			}
			row.change(l)
			_, err = Parse(encode(t, rechain(t, l)))
			if row.field == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var e *Error
			if !errors.As(err, &e) || e.Kind != Invalid || e.Field != row.field {
				t.Errorf("got %v, want a refusal of %s", err, row.field)
			}
		})
	}
}

func TestTheChainBeginsAtTheArchive(t *testing.T) {
	l, err := Parse(encode(t, sample(t)))
	if err != nil {
		t.Fatal(err)
	}
	l.Archive = &Archive{Count: 2, Digest: strings.Repeat("e", 64)}
	l.Records = l.Records[2:]
	_, err = Parse(encode(t, l)) // still chained to the record that was taken out
	var e *Error
	if !errors.As(err, &e) || e.Field != "records[0].prev" {
		t.Errorf("got %v", err)
	}
	// After everything was archived the next entry continues the chain.
	l.Archive.Count = 5
	l.Records, l.Checks, l.Retractions = []Record{}, []Check{}, []Retraction{}
	next, r, err := l.Record(goalInput("a"), at(nil))
	if err != nil || r.Revision != 6 || r.Prev != l.Archive.Digest {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := Parse(encode(t, next)); err != nil {
		t.Error(err)
	}
}

func TestRevisionsEndBeforeNumbersLoseTheirDigits(t *testing.T) {
	l := New(testID)
	l.Archive = &Archive{Count: maxRevision, Digest: strings.Repeat("e", 64)}
	l.Revision = maxRevision
	if _, err := Parse(encode(t, l)); err != nil {
		t.Fatal(err)
	}
	var e *Error
	if _, _, err := l.Record(goalInput("a"), at(nil)); !errors.As(err, &e) || e.Field != "revision" {
		t.Errorf("got %v", err)
	}
}
