package handoff

import (
	"os"
	"path/filepath"

	"github.com/landfast/landfast/handoff/gitinfo"
)

// Names below the project root.
const (
	stateDir      = ".landfast"
	ledgerName    = "ledger.json"
	lockName      = "ledger.lock"
	previewName   = "HANDOFF.md"
	snapshotsDir  = "snapshots"
	quarantineDir = "quarantine"
)

// FindOptions say where to look for the project.
type FindOptions struct {
	Project string              // given explicitly; Optional
	Dir     string              // where to start; default: the current directory
	Getenv  func(string) string // default: os.Getenv
}

// Find gives the project root as a real path and how it was found: "flag",
// "LANDFAST_PROJECT", "ledger" (the nearest ancestor with .landfast), "git"
// (the top level of the repository) or "directory". Looking upwards is what
// keeps a run in a subdirectory from starting a second, silent ledger there.
func Find(o FindOptions) (root, how string, err error) {
	getenv := o.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	start := o.Dir
	if start == "" {
		if start, err = os.Getwd(); err != nil {
			return "", "", classify("find the project", err)
		}
	}
	given, how := o.Project, "flag"
	if given == "" {
		given, how = getenv("LANDFAST_PROJECT"), "LANDFAST_PROJECT"
	}
	if given != "" {
		if !filepath.IsAbs(given) {
			given = filepath.Join(start, given)
		}
		root, err := realDir(given)
		return root, how, err
	}
	start, err = realDir(start)
	if err != nil {
		return "", "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if hasState(dir) {
			return dir, "ledger", nil
		}
		if filepath.Dir(dir) == dir {
			break
		}
	}
	if top := gitinfo.TopLevel(start); top != "" {
		return top, "git", nil
	}
	return start, "directory", nil
}

// LedgerAbove is the nearest ancestor of a root without a ledger that has one,
// or "": a root given by hand may have been meant for that one.
func LedgerAbove(root string) string {
	if hasState(root) {
		return ""
	}
	for dir := filepath.Dir(root); ; dir = filepath.Dir(dir) {
		if hasState(dir) {
			return dir
		}
		if filepath.Dir(dir) == dir {
			return ""
		}
	}
}

func hasState(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, stateDir))
	return err == nil
}

// realDir resolves links, because aliases above the root are allowed but two
// names of one project must not become two projects.
func realDir(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", &Error{Code: Usage, Message: "project " + path + ": " + cause(err).Error(), Err: err}
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", &Error{Code: Usage, Message: "project " + path + ": " + cause(err).Error(), Err: err}
	}
	if !info.IsDir() {
		return "", &Error{Code: Usage, Message: "project " + path + " is not a directory"}
	}
	return filepath.Abs(real)
}

// cause is the innermost error: messages name the path themselves.
func cause(err error) error {
	for {
		u, ok := err.(interface{ Unwrap() error })
		if !ok || u.Unwrap() == nil {
			return err
		}
		err = u.Unwrap()
	}
}
