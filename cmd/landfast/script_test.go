package main

import (
	"os"
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
	})
}
