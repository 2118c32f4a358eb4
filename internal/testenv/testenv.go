// Package testenv lets a test say what it needs from the machine it runs on,
// and makes what is missing visible.
//
// A test that needs a part which not every machine has (root's powers, a FUSE
// device, strace) calls [Skip] where the part is missing. On a developer's
// machine that skips the test. Where the variable LANDFAST_REQUIRE names the
// part, or is "all", it fails the test instead: continuous integration that
// quietly lost strace must not stay green.
package testenv

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// A Part is something that a test may need and a machine may lack.
type Part string

// The parts that this module's tests ask for. LANDFAST_REQUIRE lists them by
// these names, separated by commas.
const (
	Root    Part = "root"    // the powers of the superuser: mounts, changing user
	Wine    Part = "wine"    // Windows programs on Linux
	FUSE    Part = "fuse"    // /dev/fuse and the right to mount
	Strace  Part = "strace"  // tracing system calls
	Tmpfs   Part = "tmpfs"   // mounting a small filesystem in memory
	Loop    Part = "loop"    // loop devices, to mount a filesystem from a file
	Setpriv Part = "setpriv" // running a command as another user
	Symlink Part = "symlink" // creating symbolic links, which Windows may refuse
	Git     Part = "git"     // the git command, to compare our reading with
	GoTool  Part = "go"      // the go command, to build the programs under test
)

// requireVar names the parts whose absence fails a test.
const requireVar = "LANDFAST_REQUIRE"

// longVar, when set, asks for the long form of tests that have one.
const longVar = "LANDFAST_LONG"

// Skip ends the test because the machine lacks the part. It fails the test
// where LANDFAST_REQUIRE asks for the part, and skips it elsewhere.
func Skip(t testing.TB, part Part, reason string) {
	t.Helper()
	if required(os.Getenv(requireVar), part) {
		t.Fatalf("%s=%s asks for %s, which is missing: %s", requireVar, os.Getenv(requireVar), part, reason)
	}
	t.Skipf("needs %s: %s", part, reason)
}

// NotHere ends a test that has no meaning on the running system, whatever
// LANDFAST_REQUIRE says: no installation would make it run there.
func NotHere(t testing.TB, reason string) {
	t.Helper()
	t.Skipf("not on %s: %s", runtime.GOOS, reason)
}

// Need returns the path of a program that the part consists of, or ends the
// test as [Skip] does.
func Need(t testing.TB, part Part, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		Skip(t, part, err.Error())
	}
	return path
}

// NeedRoot ends the test, as [Skip] does, unless it runs as the superuser.
func NeedRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		Skip(t, Root, "not running as root")
	}
}

// Long reports whether the long form of a test is asked for.
func Long() bool { return os.Getenv(longVar) != "" }

// Pick returns long when the long form of tests is asked for, short otherwise:
// the number of rounds, kills or writers.
func Pick(short, long int) int {
	if Long() {
		return long
	}
	return short
}

// required reports whether a comma-separated list asks for the part.
func required(list string, part Part) bool {
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if name == "all" || name == string(part) {
			return true
		}
	}
	return false
}
