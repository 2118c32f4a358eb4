package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// binary is the command built once, without the race detector: it would make
// each of hundreds of processes slow to start and looks for something else.
// Where it can't be built, the test binary itself serves.
var binary = sync.OnceValue(func() string {
	self, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	dir, err := os.MkdirTemp("", "landfast-bin-")
	if err != nil {
		return self
	}
	built.dir = dir
	path := filepath.Join(dir, "landfast")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if err := exec.Command("go", "build", "-o", path, ".").Run(); err != nil {
		return self
	}
	_ = os.Chmod(dir, 0o755) // other users run it too
	return path
})

// built is what TestMain removes at the end.
var built struct{ dir string }

// landfast prepares the command as a process of its own.
func landfast(t testing.TB, dir string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(binary(), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LANDFAST_TEST_MAIN=1", "LANDFAST_PROJECT=", "LANDFAST_RECOVERY=")
	return cmd
}

// result is how a process ended.
type result struct {
	status int
	out    string
	errs   string
}

// runs runs it to its end.
func runs(t testing.TB, cmd *exec.Cmd, stdin io.Reader) result {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// must runs landfast and demands success.
func must(t testing.TB, dir string, args ...string) string {
	t.Helper()
	r := runs(t, landfast(t, dir, args...), nil)
	if r.status != 0 {
		t.Fatalf("landfast %s: exit %d\n%s", strings.Join(args, " "), r.status, r.errs)
	}
	return r.out
}

// input is a record's JSON.
func input(id string) string {
	return `{"id":"` + id + `","kind":"goal","text":"text of ` + id + `","source":"test"}`
}
