package lockx

import (
	"path/filepath"
	"testing"

	"github.com/gofrs/flock"

	"github.com/landfast/landfast/fsx"
)

// The peer to compare with, on the same directory in the same run.
func BenchmarkUncontended(b *testing.B) {
	dir := b.TempDir()
	root, err := fsx.OpenRoot(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	d, err := root.Dir(".")
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	for name, o := range map[string]Options{"exclusive": {Timeout: -1}, "shared": {Timeout: -1, Shared: true}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				h, err := Acquire(b.Context(), d, "l", o)
				if err != nil {
					b.Fatal(err)
				}
				_ = h.Release()
			}
		})
	}
	b.Run("gofrs", func(b *testing.B) {
		l := flock.New(filepath.Join(dir, "g"))
		for b.Loop() {
			if ok, err := l.TryLock(); !ok || err != nil {
				b.Fatal(ok, err)
			}
			_ = l.Unlock()
		}
	})
}
