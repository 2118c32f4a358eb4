// Package handoff is the project ledger: what one coding agent hands to the
// next. It keeps one JSON document per project, .landfast/ledger.json, with
// verified snapshots beside it, and knows nothing of command lines, MCP or
// HTTP: those are thin adapters over the methods of [Project], so that the same
// rule gives the same [Error] in all of them.
//
// Promised: an acknowledged change survives power loss and has a verified
// snapshot, as has the change before it (H1); no stale writer overwrites (H2);
// nothing invalid is stored and nothing damaged is overwritten before its
// original bytes are set aside (H3); reading runs nothing and returns nothing
// of a damaged file's content in an error (H4). Readers take no lock and work on
// a read-only checkout.
//
// Not promised: secrecy on disk (the ledger is plain text, mode 0600), truth of
// what agents record, or protection from a process of the same user that edits
// the files on purpose.
//
//	root, _, err := handoff.Find(handoff.FindOptions{})
//	p, err := handoff.Open(root, handoff.Options{})
//	view, err := p.Resume(ctx)
package handoff
