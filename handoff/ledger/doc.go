// Package ledger is the format landfast/1 of a project ledger and its rules:
// strict reading, appending, retracting, the view of one branch, and Markdown.
// It is pure: no files, no clock, no environment. Every operation gives a new
// [Ledger] and leaves the old one as it was, so a change that is refused or
// can't be saved has changed nothing.
//
// A ledger is an append-only history. Every change adds exactly one entry, whose
// revision is the ledger's new revision and whose prev is the SHA-256 of the
// RFC 8785 form of the entry before it, in whichever of the three arrays that
// stands. [Parse] checks all of it and gives an [Error] that names the field and
// the limit and never a value.
//
//	l := ledger.New(id)
//	l, rec, err := l.Record(input, ledger.At{Now: now, Branch: &branch})
//	data, err := l.Encode()
//
// Not here: screening for credentials, running checks, who may write (locks and
// files are package handoff's).
package ledger
