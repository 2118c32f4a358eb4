package lockx

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/internal/testenv"
)

// DeusData/codebase-memory-mcp#2178, systemd/systemd#30760: a cleaner removes the
// held lock file, and a second instance starts. With an anchor it does not.
func TestRemovedLockFileLetsNobodyIntoAnAnchoredLock(t *testing.T) {
	if runtime.GOOS == "windows" {
		testenv.NotHere(t, "a directory can't be locked on Windows")
	}
	path := testenv.TempDir(t)
	root, err := fsx.OpenRoot(path)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	d, err := root.Dir(".")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	ctx := context.Background()
	first, err := Acquire(ctx, d, "l", Options{Anchored: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(path, "l")); err != nil {
		t.Fatal(err)
	}
	if _, err := Acquire(ctx, d, "l", Options{Anchored: true, Timeout: -1}); !errors.Is(err, ErrBusy) {
		t.Errorf("one try beside the holder of a removed file: %v", err)
	}
	if _, err := Acquire(ctx, d, "l", Options{Anchored: true, Timeout: 30 * time.Millisecond}); !errors.Is(err, ErrBusy) {
		t.Errorf("waiting beside it: %v", err)
	}
	if err := first.Verify(); !errors.Is(err, ErrLost) {
		t.Errorf("the holder does not notice: %v", err)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	next, err := Acquire(ctx, d, "l", Options{Anchored: true, Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if err := next.Release(); err != nil {
		t.Fatal(err)
	}
}

// Never two inside, however often the file goes.
func TestAnchoredHoldersExcludeEachOtherWhileTheFileKeepsGoing(t *testing.T) {
	if runtime.GOOS == "windows" {
		testenv.NotHere(t, "a directory can't be locked on Windows")
	}
	path := testenv.TempDir(t)
	root, err := fsx.OpenRoot(path)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	stop := make(chan struct{})
	var cleaner sync.WaitGroup
	cleaner.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				_ = os.Remove(filepath.Join(path, "l"))
			}
		}
	})
	counter := 0 // unguarded but for the lock: the race detector watches
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			d, err := root.Dir(".")
			if err != nil {
				t.Error(err)
				return
			}
			defer d.Close()
			for done := 0; done < 40; {
				h, err := Acquire(context.Background(), d, "l", Options{Anchored: true})
				if errors.Is(err, ErrUnstable) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				seen := counter
				time.Sleep(200 * time.Microsecond)
				counter = seen + 1
				done++
				if err := h.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	cleaner.Wait()
	if counter != 6*40 {
		t.Errorf("counted %d of %d: two were inside at once", counter, 6*40)
	}
}
