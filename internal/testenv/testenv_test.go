package testenv

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// ended records how a test ended and stops its goroutine, as the real one does.
type ended struct {
	testing.TB
	skipped, failed bool
}

func (e *ended) Helper()               {}
func (e *ended) Skipf(string, ...any)  { e.skipped = true; runtime.Goexit() }
func (e *ended) Fatalf(string, ...any) { e.failed = true; runtime.Goexit() }

func run(f func(testing.TB)) *ended {
	e := &ended{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(e)
	}()
	<-done
	return e
}

func TestSkipFailsWhereThePartIsRequired(t *testing.T) {
	for _, c := range []struct {
		name, list string
		fails      bool
	}{
		{"nothing is required", "", false},
		{"everything is required", "all", true},
		{"the part is required", "strace", true},
		{"the part is one of several", "fuse, strace", true},
		{"only others are required", "fuse,wine", false},
		{"a longer name is no match", "straces", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(requireVar, c.list)
			got := run(func(tb testing.TB) { Skip(tb, Strace, "no such program") })
			if got.failed != c.fails || got.skipped == c.fails {
				t.Errorf("failed %v, skipped %v, want failed %v", got.failed, got.skipped, c.fails)
			}
		})
	}
}

func TestNeedEndsTheTestWithoutTheProgram(t *testing.T) {
	t.Setenv(requireVar, "")
	got := run(func(tb testing.TB) { Need(tb, Git, "a-program-that-nobody-has") })
	if !got.skipped {
		t.Error("went on without the program")
	}
}

func TestNotHereSkipsEvenWhereAllIsRequired(t *testing.T) {
	t.Setenv(requireVar, "all")
	if got := run(func(tb testing.TB) { NotHere(tb, "no such idea") }); !got.skipped || got.failed {
		t.Errorf("skipped %v, failed %v", got.skipped, got.failed)
	}
}

func TestPickFollowsTheLongVariable(t *testing.T) {
	t.Setenv(longVar, "")
	if got := Pick(1, 2); got != 1 {
		t.Errorf("short: got %d", got)
	}
	t.Setenv(longVar, "1")
	if got := Pick(1, 2); got != 2 {
		t.Errorf("long: got %d", got)
	}
}

func TestTempDirIsGoneAfterTheTest(t *testing.T) {
	var dir string
	t.Run("a test with / in its name", func(t *testing.T) {
		dir = TempDir(t)
		if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "a", "b", "c"), []byte("x"), 0o444); err != nil {
			t.Fatal(err)
		}
	})
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("still there: %v", err)
	}
}

func TestRemoveTreeTakesEverything(t *testing.T) {
	dir := filepath.Join(TempDir(t), "tree")
	for _, sub := range []string{"a/b", "c"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(sub)), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "a", "b", "f"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := removeTree(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("still there: %v", err)
	}
}
