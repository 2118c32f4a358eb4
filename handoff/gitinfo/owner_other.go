//go:build !unix

package gitinfo

// foreignOwner: ownership on Windows is a matter of access lists that this
// reader does not judge.
func foreignOwner(string) bool { return false }
