package ledger

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

func (l *Ledger) checkTop() *Error {
	if err := first(checkUUID("ledger_id", l.LedgerID)); err != nil {
		return err
	}
	if l.Revision > maxRevision {
		return invalid("revision", "is larger than %d", uint64(maxRevision))
	}
	if l.UpdatedAt != "" {
		if err := checkTime("updated_at", l.UpdatedAt); err != nil {
			return err
		}
	}
	if l.RecoveryID != "" {
		if err := checkUUID("recovery_id", l.RecoveryID); err != nil {
			return err
		}
	}
	if l.Rules < 0 {
		return invalid("rules", "is negative")
	}
	if l.Archive != nil {
		if l.Archive.Count == 0 {
			return invalid("archive.count", "is 0")
		}
		return checkDigest("archive.digest", l.Archive.Digest)
	}
	return nil
}

func checkOrigin(field string, o *Origin) *Error {
	if o == nil {
		return nil
	}
	if o.Revision == 0 || o.Revision > maxRevision {
		return invalid(field+".revision", "is out of range")
	}
	return first(checkUUID(field+".ledger", o.Ledger), checkDigest(field+".digest", o.Digest))
}

func checkPrev(field, prev string) *Error {
	if prev == "" {
		return nil
	}
	return checkDigest(field, prev)
}

func (r *Record) check(f string) *Error {
	if err := first(
		checkID(f+".id", r.ID),
		checkOneOf(f+".kind", r.Kind, KindGoal, KindAnswer, KindDecision, KindNext),
		checkText(f+".text", r.Text),
		checkText(f+".source", r.Source),
		checkOneOf(f+".status", r.Status, "open", "done"),
		checkOneOf(f+".scope", r.Scope, "project"),
		checkOneOf(f+".tier", r.Tier, TierRepo, TierBranch),
		checkBranch(f+".branch", r.Branch),
		checkHead(f+".observed_head", r.ObservedHead),
		checkTime(f+".recorded_at", r.RecordedAt),
		checkOrigin(f+".origin", r.Origin),
		checkPrev(f+".prev", r.Prev),
	); err != nil {
		return err
	}
	if r.Answer != "" {
		if err := checkText(f+".answer", r.Answer); err != nil {
			return err
		}
	}
	if r.Why != "" {
		if err := checkText(f+".why", r.Why); err != nil {
			return err
		}
	}
	if r.Kind == KindAnswer && r.Answer == "" {
		return invalid(f+".answer", "is missing: a record of kind answer needs it")
	}
	if r.Status == "done" && r.Kind != KindNext {
		return invalid(f+".status", "can be done only for kind next")
	}
	return nil
}

func (r *Retraction) check(f string) *Error {
	return first(
		checkID(f+".id", r.ID),
		checkOneOf(f+".category", r.Category, CategoryRecord, CategoryCheck),
		checkBranch(f+".branch", r.Branch),
		checkTime(f+".recorded_at", r.RecordedAt),
		checkOrigin(f+".origin", r.Origin),
		checkPrev(f+".prev", r.Prev),
	)
}

const (
	evidenceSource = "landfast-executed-process"
	couldNotStart  = "Command could not start."
	maxInputs      = 10_000
)

func (c *Check) check(f string) *Error {
	if err := first(
		checkID(f+".id", c.ID),
		checkText(f+".title", c.Title),
		checkOneOf(f+".scope", c.Scope, "project"),
		checkOneOf(f+".environment", c.Environment, "local", "external"),
		checkOneOf(f+".evidence_source", c.EvidenceSource, evidenceSource),
		checkBranch(f+".branch", c.Branch),
		checkHead(f+".observed_head", c.ObservedHead),
		checkTime(f+".started_at", c.StartedAt),
		checkTime(f+".recorded_at", c.RecordedAt),
		checkDigest(f+".output_sha256", c.OutputSHA256),
		checkOrigin(f+".origin", c.Origin),
		checkPrev(f+".prev", c.Prev),
		checkVisible(f+".runtime", c.Runtime),
	); err != nil {
		return err
	}
	if n := utf8.RuneCountInString(c.Runtime); n < 1 || n > 200 {
		return invalid(f+".runtime", "must have 1 to 200 characters")
	}
	if n := len(c.Command); n < 1 || n > 40 {
		return invalid(f+".command", "must have 1 to 40 arguments")
	}
	for i, a := range c.Command {
		field := fmt.Sprintf("%s.command[%d]", f, i)
		if n := utf8.RuneCountInString(a); n < 1 || n > maxTextRunes {
			return invalid(field, "must have 1 to %d characters", maxTextRunes)
		}
		if err := checkVisible(field, a); err != nil {
			return err
		}
	}
	return c.checkOutcome(f)
}

func (c *Check) checkOutcome(f string) *Error {
	if n := len(c.Inputs); n < 1 || n > maxInputs {
		return invalid(f+".inputs", "must have 1 to %d entries", maxInputs)
	}
	names := make([]string, 0, len(c.Inputs))
	for name := range c.Inputs {
		names = append(names, name)
	}
	slices.Sort(names) // so that the same bytes always give the same error
	for _, name := range names {
		if err := first(checkRelPath(f+".inputs", name), checkDigest(f+".inputs", c.Inputs[name])); err != nil {
			return err
		}
	}
	if c.OutputBytes > maxRevision {
		return invalid(f+".output_bytes", "is larger than %d", uint64(maxRevision))
	}
	if c.OutputRetained {
		return invalid(f+".output_retained", "must be false")
	}
	if c.Error != "" && c.Error != couldNotStart {
		return invalid(f+".error", "is not the one error that is stored")
	}
	if c.Signal != nil {
		if n := utf8.RuneCountInString(*c.Signal); n < 1 || n > 32 {
			return invalid(f+".signal", "must have 1 to 32 characters")
		}
		if err := checkVisible(f+".signal", *c.Signal); err != nil {
			return err
		}
	}
	if c.Signature != nil {
		return first(checkBase64(f+".signature.key", c.Signature.Key, 32), checkBase64(f+".signature.value", c.Signature.Value, 64))
	}
	return nil
}

// entry is a record, check or retraction in the order of revisions.
type entry struct {
	field    string // as in "records[3]"
	revision uint64
	prev     string
	value    any
}

// entries are all entries by revision.
func (l *Ledger) entries() []entry {
	es := make([]entry, 0, len(l.Records)+len(l.Checks)+len(l.Retractions))
	for i := range l.Records {
		es = append(es, entry{fmt.Sprintf("records[%d]", i), l.Records[i].Revision, l.Records[i].Prev, &l.Records[i]})
	}
	for i := range l.Checks {
		es = append(es, entry{fmt.Sprintf("checks[%d]", i), l.Checks[i].Revision, l.Checks[i].Prev, &l.Checks[i]})
	}
	for i := range l.Retractions {
		es = append(es, entry{fmt.Sprintf("retractions[%d]", i), l.Retractions[i].Revision, l.Retractions[i].Prev, &l.Retractions[i]})
	}
	slices.SortStableFunc(es, func(a, b entry) int {
		switch {
		case a.revision < b.revision:
			return -1
		case a.revision > b.revision:
			return 1
		}
		return 0
	})
	return es
}

// checkHistory: complete, in order, and chained.
func (l *Ledger) checkHistory() ([]entry, *Error) {
	for _, order := range []struct {
		field string
		n     int
		rev   func(i int) uint64
	}{
		{"records", len(l.Records), func(i int) uint64 { return l.Records[i].Revision }},
		{"checks", len(l.Checks), func(i int) uint64 { return l.Checks[i].Revision }},
		{"retractions", len(l.Retractions), func(i int) uint64 { return l.Retractions[i].Revision }},
	} {
		last := uint64(0)
		for i := range order.n {
			rev := order.rev(i)
			field := fmt.Sprintf("%s[%d].revision", order.field, i)
			if rev == 0 || rev > l.Revision {
				return nil, invalid(field, "is outside 1 to the ledger's revision")
			}
			if rev <= last {
				return nil, invalid(field, "is out of order")
			}
			last = rev
		}
	}
	es := l.entries()
	archived := uint64(0)
	if l.Archive != nil {
		archived = l.Archive.Count
	}
	if archived > l.Revision || uint64(len(es)) != l.Revision-archived {
		return nil, invalid("revision", "does not equal the number of entries: the history is incomplete")
	}
	for i, e := range es {
		if e.revision != archived+uint64(i)+1 {
			return nil, invalid(e.field+".revision", "is used twice or leaves a gap")
		}
	}
	return es, nil
}

// checkChain compares each prev with the digest of the entry before. forms are
// the RFC 8785 forms of the entries in order.
func (l *Ledger) checkChain(es []entry, digests []string) *Error {
	want := ""
	if l.Archive != nil {
		want = l.Archive.Digest
	}
	for i, e := range es {
		if e.prev != want {
			return invalid(e.field+".prev", "is not the digest of the entry before it: an entry was changed by hand")
		}
		want = digests[i]
	}
	return nil
}

// checkIdentity: an id keeps its kind and its tier.
func (l *Ledger) checkIdentity() *Error {
	kinds, tiers := map[string]string{}, map[string]string{}
	for i := range l.Records {
		r := &l.Records[i]
		field := fmt.Sprintf("records[%d]", i)
		if t, ok := tiers[r.ID]; ok && t != r.Tier {
			return invalid(field+".tier", "differs from that of the same id before")
		}
		tiers[r.ID] = r.Tier
		key := recordKey(r.ID, r.Tier, r.Branch)
		if k, ok := kinds[key]; ok && k != r.Kind {
			return invalid(field+".kind", "differs from that of the same id before")
		}
		kinds[key] = r.Kind
	}
	return nil
}

// recordKey identifies a record: a repo id is one whatever the branch.
func recordKey(id, tier string, branch *string) string {
	if tier == TierRepo {
		return id
	}
	return id + "\x00" + branchKey(branch)
}

// branchKey keeps no branch apart from every branch name.
func branchKey(b *string) string {
	if b == nil {
		return "\x00"
	}
	return strings.Clone(*b)
}
