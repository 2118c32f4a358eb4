package ledger

import "fmt"

// Kind says what is wrong with bytes that are no valid ledger or input.
type Kind uint8

// The kinds of [Error].
const (
	Invalid  Kind = iota // a rule is broken
	Syntax               // not strict JSON
	TooLarge             // beyond a size limit
	Newer                // written by a newer version; leave it untouched
)

// Error names the field and the rule or limit. It never holds a value.
type Error struct {
	Kind    Kind
	Field   string // as in "records[3].text", or ""
	Message string
}

// Error joins field and message.
func (e *Error) Error() string {
	if e.Field == "" {
		return e.Message
	}
	return e.Field + " " + e.Message
}

func invalid(field, format string, args ...any) *Error {
	return &Error{Kind: Invalid, Field: field, Message: fmt.Sprintf(format, args...)}
}

// Reason says why a change does not fit the ledger as it is now.
type Reason string

// The reasons of a [Conflict].
const (
	ReasonRevision  Reason = "revision"  // somebody changed the record in between, or it exists already
	ReasonMissing   Reason = "missing"   // there is no such record here
	ReasonHidden    Reason = "hidden"    // it is already retracted
	ReasonRecovered Reason = "recovered" // the ledger was recovered in between
)

// Conflict is a change that was decided on an older state. It names the record
// and deliberately not the present revision: that would invite writing over
// something unread.
type Conflict struct {
	Reason Reason
	ID     string
}

// Error says what to do about it.
func (e *Conflict) Error() string {
	switch e.Reason {
	case ReasonMissing:
		return fmt.Sprintf("%q is not recorded on this branch", e.ID)
	case ReasonHidden:
		return fmt.Sprintf("%q is already retracted", e.ID)
	case ReasonRecovered:
		return "the recovery id is not the one this ledger has now: it was recovered since, or never"
	}
	return fmt.Sprintf("%q is not at the expected revision: it exists already or was changed since; resume to see it", e.ID)
}
