package ledger

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// At is the moment and place of a change.
type At struct {
	Now    time.Time
	Branch *string // nil where there is none
	Head   *string // nil where it is not known
}

// RecordInput is what a caller may say of a record.
type RecordInput struct {
	ID               string  `json:"id"`
	Kind             string  `json:"kind"`
	Text             string  `json:"text"`
	Source           string  `json:"source"`
	Answer           string  `json:"answer,omitzero"`
	Why              string  `json:"why,omitzero"`
	Status           string  `json:"status,omitzero"` // default open
	Scope            string  `json:"scope,omitzero"`  // default project
	Tier             string  `json:"tier,omitzero"`   // default: that of the id, else branch for next and repo for the others
	ExpectedRevision *uint64 `json:"expected_revision,omitzero"`
	ExpectedRecovery string  `json:"expected_recovery,omitzero"`
}

// ParseRecordInput reads a record's JSON strictly, at most [MaxInputBytes].
func ParseRecordInput(data []byte) (RecordInput, error) {
	var in RecordInput
	if len(data) > MaxInputBytes {
		return in, &Error{Kind: TooLarge, Message: fmt.Sprintf("the record is larger than %d bytes", MaxInputBytes)}
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(data, &members); err != nil {
		return in, inputError(err)
	}
	if members == nil {
		return in, invalid("", "the record is no JSON object")
	}
	for _, name := range sortedNames(members) {
		if members[name].Kind() == 'n' {
			return in, invalid(clip(name), "is null; leave it out instead")
		}
	}
	if err := json.Unmarshal(data, &in, strict); err != nil {
		return in, inputError(err)
	}
	return in, nil
}

func inputError(err error) *Error {
	e := jsonError("", err)
	if e.Field == "" {
		e.Message = "the record " + e.Message
	}
	return e
}

// Record appends a record and gives the new ledger and the record as stored.
// Errors: an [Error] that names the field, or a [Conflict].
func (l *Ledger) Record(in RecordInput, at At) (*Ledger, Record, error) {
	r := Record{
		ID: in.ID, Kind: in.Kind, Text: trim(in.Text), Source: trim(in.Source), Answer: trim(in.Answer), Why: trim(in.Why),
		Status: orDefault(in.Status, "open"), Scope: orDefault(in.Scope, "project"),
		Branch: at.Branch, ObservedHead: at.Head, RecordedAt: FormatTime(at.Now),
	}
	tier, err := l.tierOf(in)
	if err != nil {
		return nil, Record{}, err
	}
	r.Tier = tier
	if err := r.check("record"); err != nil {
		err.Field = strings.TrimPrefix(err.Field, "record.")
		return nil, Record{}, err
	}
	if err := l.checkRecovery(in.ExpectedRecovery); err != nil {
		return nil, Record{}, err
	}
	latest := l.latestRecord(r.ID, r.Tier, r.Branch)
	expected := uint64(0)
	if in.ExpectedRevision != nil {
		expected = *in.ExpectedRevision
	}
	switch {
	case latest == nil && expected != 0:
		return nil, Record{}, &Conflict{Reason: ReasonMissing, ID: r.ID}
	case latest != nil && latest.Revision != expected:
		return nil, Record{}, &Conflict{Reason: ReasonRevision, ID: r.ID}
	case latest != nil && latest.Kind != r.Kind:
		return nil, Record{}, invalid("kind", "of an id can't change")
	}
	next, rev, prev, cerr := l.grow(at, maxRecorded)
	if cerr != nil {
		return nil, Record{}, cerr
	}
	r.Revision, r.Prev = rev, prev
	next.Records = append(next.Records, r)
	return next, r, nil
}

// tierOf is the tier that the id has, or the one asked for, or the kind's.
func (l *Ledger) tierOf(in RecordInput) (string, error) {
	have := ""
	for i := range l.Records {
		if l.Records[i].ID == in.ID {
			have = l.Records[i].Tier
			break
		}
	}
	switch {
	case in.Tier != "" && in.Tier != TierRepo && in.Tier != TierBranch:
		return "", invalid("tier", "must be one of repo, branch")
	case have != "" && in.Tier != "" && in.Tier != have:
		return "", invalid("tier", "of an id can't change")
	case have != "":
		return have, nil
	case in.Tier != "":
		return in.Tier, nil
	case in.Kind == KindNext:
		return TierBranch, nil
	}
	return TierRepo, nil
}

// RetractInput names what to hide.
type RetractInput struct {
	ID               string `json:"id"`
	Category         string `json:"category,omitzero"` // default record
	ExpectedRevision uint64 `json:"expected_revision"`
	ExpectedRecovery string `json:"expected_recovery,omitzero"`
}

// Retract hides the newest version of an id on this branch. History keeps it.
// Errors as for [Ledger.Record]; hiding twice is a [Conflict].
func (l *Ledger) Retract(in RetractInput, at At) (*Ledger, Retraction, error) {
	r := Retraction{ID: in.ID, Category: orDefault(in.Category, CategoryRecord), Branch: at.Branch, RecordedAt: FormatTime(at.Now)}
	if err := r.check("retraction"); err != nil {
		err.Field = strings.TrimPrefix(err.Field, "retraction.")
		return nil, Retraction{}, err
	}
	if err := l.checkRecovery(in.ExpectedRecovery); err != nil {
		return nil, Retraction{}, err
	}
	revision, tier := l.latest(r.Category, r.ID, r.Branch)
	switch {
	case revision == 0:
		return nil, Retraction{}, &Conflict{Reason: ReasonMissing, ID: r.ID}
	case l.hiddenAt(r.Category, r.ID, tier, r.Branch, revision):
		return nil, Retraction{}, &Conflict{Reason: ReasonHidden, ID: r.ID}
	case revision != in.ExpectedRevision:
		return nil, Retraction{}, &Conflict{Reason: ReasonRevision, ID: r.ID}
	}
	next, rev, prev, err := l.grow(at, maxRetracted)
	if err != nil {
		return nil, Retraction{}, err
	}
	r.Revision, r.Prev = rev, prev
	next.Retractions = append(next.Retractions, r)
	return next, r, nil
}

// Recovered is the ledger under a new recovery id, which every later write must
// carry. It always fits into [MaxBytes].
func (l *Ledger) Recovered(recoveryID string, now time.Time) *Ledger {
	next := l.clone()
	next.RecoveryID, next.UpdatedAt, next.limit = recoveryID, FormatTime(now), MaxBytes
	return next
}

// checkRecovery: a writer must know of the last recovery.
func (l *Ledger) checkRecovery(expected string) error {
	if !strings.EqualFold(expected, l.RecoveryID) {
		return &Conflict{Reason: ReasonRecovered}
	}
	return nil
}

// grow is the ledger one revision on, without the new entry yet.
func (l *Ledger) grow(at At, limit int) (next *Ledger, revision uint64, prev string, err error) {
	if l.Revision >= maxRevision {
		return nil, 0, "", invalid("revision", "has reached its limit")
	}
	if prev, err = l.headDigest(); err != nil {
		return nil, 0, "", err
	}
	next = l.clone()
	next.Revision++
	next.UpdatedAt = FormatTime(at.Now)
	next.limit = limit
	return next, next.Revision, prev, nil
}

// clone copies what a change appends to; entries themselves are never changed.
func (l *Ledger) clone() *Ledger {
	next := *l
	next.Records = append(make([]Record, 0, len(l.Records)+1), l.Records...)
	next.Checks = append(make([]Check, 0, len(l.Checks)+1), l.Checks...)
	next.Retractions = append(make([]Retraction, 0, len(l.Retractions)+1), l.Retractions...)
	return &next
}

// headDigest is the digest of the newest entry: prev of the next one.
func (l *Ledger) headDigest() (string, error) {
	var head any
	if n := len(l.Records); n > 0 && l.Records[n-1].Revision == l.Revision {
		head = &l.Records[n-1]
	}
	if n := len(l.Checks); n > 0 && l.Checks[n-1].Revision == l.Revision {
		head = &l.Checks[n-1]
	}
	if n := len(l.Retractions); n > 0 && l.Retractions[n-1].Revision == l.Revision {
		head = &l.Retractions[n-1]
	}
	if head == nil {
		if l.Archive != nil {
			return l.Archive.Digest, nil
		}
		return "", nil
	}
	form, err := canonical(head)
	if err != nil {
		return "", fmt.Errorf("digest the newest entry: %w", err)
	}
	return digest(form), nil
}

// latestRecord is the newest version of a record, retracted or not.
func (l *Ledger) latestRecord(id, tier string, branch *string) *Record {
	key := recordKey(id, tier, branch)
	for i := len(l.Records) - 1; i >= 0; i-- {
		r := &l.Records[i]
		if r.ID == id && recordKey(r.ID, r.Tier, r.Branch) == key {
			return r
		}
	}
	return nil
}

// latest is the newest revision of an id as seen from a branch, 0 if none.
func (l *Ledger) latest(category, id string, branch *string) (revision uint64, tier string) {
	if category == CategoryCheck {
		for i := len(l.Checks) - 1; i >= 0; i-- {
			if c := &l.Checks[i]; c.ID == id && branchKey(c.Branch) == branchKey(branch) {
				return c.Revision, TierBranch
			}
		}
		return 0, ""
	}
	for _, tier := range []string{TierRepo, TierBranch} {
		if r := l.latestRecord(id, tier, branch); r != nil && r.Tier == tier {
			return r.Revision, tier
		}
	}
	return 0, ""
}

// hiddenAt reports whether a retraction hides this revision of an id.
func (l *Ledger) hiddenAt(category, id, tier string, branch *string, revision uint64) bool {
	for i := len(l.Retractions) - 1; i >= 0; i-- {
		r := &l.Retractions[i]
		if r.Revision < revision {
			return false
		}
		if r.Category == category && r.ID == id && (tier == TierRepo || branchKey(r.Branch) == branchKey(branch)) {
			return true
		}
	}
	return false
}

func orDefault(s, def string) string {
	if s == "" {
		return def
	}
	return s
}
