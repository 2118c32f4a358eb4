package fsx

import (
	"errors"
	"os"
	"testing"

	"github.com/landfast/landfast/internal/testenv"
)

// golang/go#64215, D6: what tmpfs can't give is refused before anything is touched.
func TestNeedIsRefusedOnTmpfsBeforeAnythingIsTouched(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "landfast-*")
	if err != nil {
		testenv.Skip(t, testenv.Tmpfs, err.Error())
	}
	defer os.RemoveAll(dir)
	_, d := openDir(t, dir)
	if d.FSType() != "tmpfs" {
		testenv.Skip(t, testenv.Tmpfs, "/dev/shm is "+d.FSType())
	}
	before, err := d.Stat()
	if err != nil {
		t.Fatal(err)
	}
	for need := Atomic; need <= Durable; need++ {
		_, err := put(d, "f", "x", Options{Need: need})
		var pe *PublishError
		if !errors.Is(err, ErrNeed) || !errors.As(err, &pe) || pe.State != NotPublished {
			t.Errorf("%v: %v", need, err)
		}
	}
	// A file made and removed again would show in the directory's time.
	if after, err := d.Stat(); err != nil || !after.Mtime.Equal(before.Mtime) {
		t.Errorf("touched: %v, %v", after.Mtime, err)
	}
	if r, err := put(d, "f", "x", Options{}); err != nil || r.Guarantee != None {
		t.Errorf("without a need: %v, %v", r.Guarantee, err)
	}
}

// What a flush level leaves out can't be asked for.
func TestNeedBeyondTheFlushIsRefused(t *testing.T) {
	_, d := openDir(t, t.TempDir())
	for _, row := range []Options{{Flush: FlushFile, Need: BestEffortDurable}, {Flush: FlushNone, Need: Ordered}} {
		if _, err := put(d, "f", "x", row); !errors.Is(err, ErrNeed) {
			t.Errorf("%+v: %v", row, err)
		}
	}
}
