// Package gitinfo reads branch and head of a repository from its files, so that
// nothing runs that the repository configures (hooks, filters, fsmonitor,
// includes) and no child process is started. Only where the files can't tell
// (the reftable format) does it ask git itself, for symbolic-ref and rev-parse
// and nothing else, with hooks and fsmonitor off and the GIT_ environment
// cleared; never for status or diff.
//
// GIT_DIR and its relatives are deliberately ignored: a ledger belongs to the
// folder it lies in, and a variable left over in some shell must not file its
// records under another repository's branch.
//
// Every trouble is a named [State], never an error: a ledger must be readable
// whatever happened to the repository around it.
package gitinfo
