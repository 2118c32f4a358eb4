package main

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/landfast/landfast/internal/golden"
	"github.com/landfast/landfast/internal/testenv"
)

func TestMain(m *testing.M) {
	if os.Getenv("LANDFAST_TEST_MAIN") == "1" { // this test binary as the command, for tests that start and kill it
		main()
	}
	testscript.Main(cleaned{m}, map[string]func(){"landfast": main})
}

// cleaned removes the built command after the tests.
type cleaned struct{ m *testing.M }

func (c cleaned) Run() int {
	defer func() { _ = os.RemoveAll(built.dir) }()
	return c.m.Run()
}

func TestScripts(t *testing.T) {
	if wine := os.Getenv("WINEPREFIX"); wine != "" {
		testenv.NotHere(t, "testscript's own clean-up fails under Wine")
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       golden.Updating(),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector's second at each exit would be most of the time
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"exits": exits},
	})
}

// exits is "exits STATUS PROGRAM ARG…": exec that demands one exit status, where
// "! exec" takes any but 0.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS PROGRAM ARG…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}
