package durable_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/landfast/landfast/durable"
	"github.com/landfast/landfast/fsx"
)

// BenchmarkWriteFile shows what a durable write of 4 KiB below a root costs,
// beside one that promises nothing.
func BenchmarkWriteFile(b *testing.B) {
	data := bytes.Repeat([]byte("4 KiB.. "), 512)
	path := b.TempDir()
	if err := os.MkdirAll(filepath.Join(path, "a", "b"), 0o700); err != nil {
		b.Fatal(err)
	}
	root, err := fsx.OpenRoot(path)
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	for _, way := range []struct {
		name string
		do   func() error
	}{
		{"durable", func() error {
			_, err := durable.WriteFile(ctx, root, "a/b/f", data, durable.Options{})
			return err
		}},
		{"no-flush", func() error {
			_, err := durable.WriteFile(ctx, root, "a/b/f", data, durable.Options{Flush: fsx.FlushNone})
			return err
		}},
		{"in-place", func() error { return os.WriteFile(filepath.Join(path, "a", "b", "g"), data, 0o600) }},
	} {
		b.Run(way.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := way.do(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
