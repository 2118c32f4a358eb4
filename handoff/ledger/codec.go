package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// strict refuses unknown and duplicate names (case matters), invalid UTF-8 and
// trailing data.
var strict = json.JoinOptions(json.RejectUnknownMembers(true))

// wire is the ledger with its entries still as they were written.
type wire struct {
	Archive     *Archive         `json:"archive"`
	Checks      []jsontext.Value `json:"checks"`
	Format      string           `json:"format"`
	LedgerID    string           `json:"ledger_id"`
	Records     []jsontext.Value `json:"records"`
	RecoveryID  string           `json:"recovery_id"`
	Retractions []jsontext.Value `json:"retractions"`
	Revision    uint64           `json:"revision"`
	Rules       int              `json:"rules"`
	UpdatedAt   string           `json:"updated_at"`
}

// Parse reads a ledger strictly. Errors are an [Error] that names the field;
// a newer format is Kind [Newer].
func Parse(data []byte) (*Ledger, error) {
	l, err := parse(data)
	if err != nil {
		return nil, err
	}
	return l, nil
}

func parse(data []byte) (*Ledger, *Error) {
	if len(data) > MaxBytes {
		return nil, &Error{Kind: TooLarge, Message: fmt.Sprintf("is %d bytes, the limit is %d", len(data), MaxBytes)}
	}
	var top map[string]jsontext.Value
	if err := json.Unmarshal(data, &top); err != nil {
		return nil, jsonError("", err)
	}
	if err := checkFormat(top["format"]); err != nil {
		return nil, err
	}
	for _, name := range sortedNames(top) {
		if top[name].Kind() == 'n' {
			return nil, invalid(clip(name), "is null")
		}
	}
	// Empty would read as absent, and an absent recovery id as "never recovered".
	for _, name := range []string{"recovery_id", "updated_at"} {
		if string(top[name]) == `""` {
			return nil, invalid(name, "is empty; leave it out instead")
		}
	}
	for _, name := range []string{"ledger_id", "revision", "records", "checks", "retractions"} {
		if _, ok := top[name]; !ok {
			return nil, invalid(name, "is missing")
		}
	}
	var w wire
	if err := json.Unmarshal(data, &w, strict); err != nil {
		return nil, jsonError("", err)
	}
	l := &Ledger{
		Archive: w.Archive, Format: w.Format, LedgerID: w.LedgerID, RecoveryID: w.RecoveryID,
		Revision: w.Revision, Rules: w.Rules, UpdatedAt: w.UpdatedAt,
	}
	if err := l.checkTop(); err != nil {
		return nil, err
	}
	return l, l.takeEntries(&w)
}

// takeEntries reads, checks and chains the entries.
func (l *Ledger) takeEntries(w *wire) *Error {
	digests := map[uint64]string{}
	var err *Error
	l.Records, err = readEntries(w.Records, "records", digests, (*Record).check, func(r *Record) uint64 { return r.Revision })
	if err != nil {
		return err
	}
	l.Checks, err = readEntries(w.Checks, "checks", digests, (*Check).check, func(c *Check) uint64 { return c.Revision })
	if err != nil {
		return err
	}
	l.Retractions, err = readEntries(w.Retractions, "retractions", digests, (*Retraction).check, func(r *Retraction) uint64 { return r.Revision })
	if err != nil {
		return err
	}
	es, err := l.checkHistory()
	if err != nil {
		return err
	}
	order := make([]string, len(es))
	for i, e := range es {
		order[i] = digests[e.revision]
	}
	return first(l.checkChain(es, order), l.checkIdentity())
}

// readEntries decodes one array. An entry must say exactly what would be
// written for it: that is how a missing field, a null or a number in place of a
// flag is noticed, none of which a decoder into Go values reports.
func readEntries[T any](raw []jsontext.Value, array string, digests map[uint64]string, check func(*T, string) *Error, rev func(*T) uint64) ([]T, *Error) {
	out := make([]T, len(raw))
	for i, v := range raw {
		field := fmt.Sprintf("%s[%d]", array, i)
		if err := json.Unmarshal(v, &out[i], strict); err != nil {
			return nil, jsonError(field, err)
		}
		if err := check(&out[i], field); err != nil {
			return nil, err
		}
		mine, err := canonical(&out[i])
		if err != nil {
			return nil, invalid(field, "can't be written again")
		}
		theirs := v.Clone()
		if err := theirs.Canonicalize(); err != nil {
			return nil, jsonError(field, err)
		}
		if !bytes.Equal(mine, theirs) {
			return nil, differs(field, mine, theirs)
		}
		digests[rev(&out[i])] = digest(mine)
	}
	return out, nil
}

// differs names the first member in which two forms of an entry differ.
func differs(field string, mine, theirs []byte) *Error {
	var a, b map[string]jsontext.Value
	if json.Unmarshal(mine, &a) == nil && json.Unmarshal(theirs, &b) == nil {
		for _, name := range sortedNames(b) {
			if _, ok := a[name]; !ok {
				return invalid(field+"."+clip(name), "is null or empty; leave it out instead")
			}
		}
		for _, name := range sortedNames(a) {
			if w, ok := b[name]; !ok {
				return invalid(field+"."+clip(name), "is missing")
			} else if !bytes.Equal(a[name], w) {
				return invalid(field+"."+clip(name), "has a value of the wrong form")
			}
		}
	}
	return invalid(field, "is not in the form that is written")
}

// sortedNames makes the same bytes always give the same error.
func sortedNames(members map[string]jsontext.Value) []string {
	return slices.Sorted(maps.Keys(members))
}

// clip keeps a name from the file short and printable in a message.
func clip(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < 0x21 || r > 0x7e {
			return '?'
		}
		return r
	}, name)
	if len(name) > 40 {
		name = name[:40] + "…"
	}
	return name
}

func checkFormat(v jsontext.Value) *Error {
	var s string
	if v == nil || json.Unmarshal(v, &s) != nil {
		return invalid("format", "is missing or no string")
	}
	if s == Format {
		return nil
	}
	num, ok := strings.CutPrefix(s, "landfast/")
	if ok && len(num) > 0 && len(num) < 6 && strings.Trim(num, "0123456789") == "" && num[0] != '0' {
		return &Error{Kind: Newer, Field: "format", Message: "is " + s + "; this version reads " + Format}
	}
	return invalid("format", "is not %s", Format)
}

// jsonError words a decoder's error without quoting the input.
func jsonError(field string, err error) *Error {
	var sem *json.SemanticError
	if errors.As(err, &sem) {
		where := pointerField(field, string(sem.JSONPointer))
		if errors.Is(err, json.ErrUnknownName) {
			return invalid(where, "is an unknown field")
		}
		return invalid(where, "has a value of the wrong type or range")
	}
	var syn *jsontext.SyntacticError
	if errors.As(err, &syn) {
		msg := fmt.Sprintf("is not valid JSON at byte %d", syn.ByteOffset)
		if errors.Is(err, jsontext.ErrDuplicateName) {
			msg = "occurs twice"
			return &Error{Kind: Syntax, Field: pointerField(field, string(syn.JSONPointer)), Message: msg}
		}
		return &Error{Kind: Syntax, Field: field, Message: msg}
	}
	return &Error{Kind: Syntax, Field: field, Message: "is not valid JSON"}
}

// pointerField turns a JSON pointer into the form of the messages.
func pointerField(field, pointer string) string {
	for p := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		switch {
		case p == "":
		case strings.Trim(p, "0123456789") == "":
			field += "[" + clip(p) + "]"
		case field == "":
			field = clip(p)
		default:
			field += "." + clip(p)
		}
	}
	return field
}

// Encode writes the ledger: keys sorted, two-space indent, one final LF. The
// error is an [Error] of Kind [TooLarge] where the change that made this ledger
// would go beyond its limit.
func (l *Ledger) Encode() ([]byte, error) {
	data, err := json.Marshal(l, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("encode ledger: %w", err)
	}
	data = append(data, '\n')
	limit := l.limit
	if limit == 0 {
		limit = MaxBytes
	}
	if len(data) > limit {
		return nil, &Error{Kind: TooLarge, Message: fmt.Sprintf("the ledger would be %d bytes, the limit for this change is %d; nothing was stored, retracting and recovering still work", len(data), limit)}
	}
	return data, nil
}

// canonical is the RFC 8785 form of an entry.
func canonical(v any) ([]byte, error) {
	data, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	val := jsontext.Value(data)
	if err := val.Canonicalize(); err != nil {
		return nil, err
	}
	return val, nil
}

func digest(form []byte) string {
	sum := sha256.Sum256(form)
	return hex.EncodeToString(sum[:])
}
