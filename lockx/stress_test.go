package lockx

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Everything at once: readers, writers, tries, timeouts, cancellations, and
// another process that takes the lock as well.
func TestExclusionUnderEverythingAtOnce(t *testing.T) {
	d, dir := openDir(t)
	path := filepath.Join(dir, "l")
	c := startChild(t, "count", path)
	var readers, writers, got, increments atomic.Int32
	var wg sync.WaitGroup
	deadline := time.Now().Add(time.Second)
	for range 24 {
		wg.Go(func() {
			for time.Now().Before(deadline) {
				o := Options{Shared: rand.IntN(2) == 0}
				ctx, cancel := context.WithCancel(t.Context())
				switch rand.IntN(4) {
				case 0:
					o.Timeout = -1
				case 1:
					o.Timeout = time.Duration(1 + rand.IntN(2e6))
				case 2:
					time.AfterFunc(time.Duration(rand.IntN(2e6)), cancel)
				}
				h, err := Acquire(ctx, d, "l", o)
				if err != nil {
					if !errors.Is(err, ErrBusy) && !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
					cancel()
					continue
				}
				got.Add(1)
				if o.Shared {
					readers.Add(1)
					if writers.Load() != 0 {
						t.Error("a reader beside a writer")
					}
					readers.Add(-1)
				} else {
					if writers.Add(1) != 1 || readers.Load() != 0 {
						t.Error("a writer beside another holder")
					}
					// The child counts in the same file under the same lock.
					if err := increment(path + ".n"); err != nil {
						t.Error(err)
					}
					increments.Add(1)
					writers.Add(-1)
				}
				if err := h.Release(); err != nil {
					t.Error(err)
				}
				cancel()
			}
		})
	}
	wg.Wait()
	if err := c.finish(); err != nil {
		t.Fatal(err)
	}
	want := increments.Load() + 100
	h := acquire(t, d, Options{})
	data, err := os.ReadFile(path + ".n")
	if err != nil || string(data) != fmt.Sprint(want) {
		t.Errorf("counter is %q, %v; want %d", data, err, want)
	}
	release(t, h)
	t.Logf("%d acquisitions", got.Load())
	for i := 0; queues() > 0; i++ {
		if i > 2000 {
			t.Fatal("queues left in the registry")
		}
		time.Sleep(time.Millisecond)
	}
}

func queues() int {
	locks.mu.Lock()
	defer locks.mu.Unlock()
	return len(locks.files)
}
