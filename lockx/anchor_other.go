//go:build !unix || solaris || aix

package lockx

// osLocksDirs: LockFileEx takes no directory.
const osLocksDirs = false

func dirLockUnsupported(error) bool { return true }
