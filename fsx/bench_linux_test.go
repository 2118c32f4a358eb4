package fsx

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

// replaceByHand is the least that a durable replace can be: no look at the
// target, no cleanup.
func replaceByHand(dir int, data []byte) error {
	fd, err := unix.Openat(dir, "by-hand.tmp", unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if _, err := unix.Write(fd, data); err != nil {
		return err
	}
	if err := unix.Fdatasync(fd); err != nil {
		return err
	}
	if err := unix.Renameat(dir, "by-hand.tmp", dir, "by-hand"); err != nil {
		return err
	}
	return unix.Fsync(dir)
}

// BenchmarkReplace compares ways to replace one file of 4 KiB in one run, on
// the filesystem of the temporary directory and in memory. Only fsx and by-hand
// sync the directory; renameio and fsx-ordered don't.
func BenchmarkReplace(b *testing.B) {
	data := bytes.Repeat([]byte("4 KiB.. "), 512)
	for _, where := range []string{"disk", "memory"} {
		dir := b.TempDir()
		if where == "memory" {
			var err error
			if dir, err = os.MkdirTemp("/dev/shm", "landfast-*"); err != nil {
				b.Logf("no memory: %v", err)
				continue
			}
			defer os.RemoveAll(dir)
		}
		root, err := OpenRoot(dir)
		if err != nil {
			b.Fatal(err)
		}
		defer root.Close()
		d, err := root.Dir(".")
		if err != nil {
			b.Fatal(err)
		}
		defer d.Close()
		staged := func(o Options) func() error {
			return func() error {
				t, err := d.CreateTemp("fsx", o)
				if err != nil {
					return err
				}
				if _, err := t.Write(data); err != nil {
					return errors.Join(err, t.Abort())
				}
				_, err = t.Replace(context.Background())
				return err
			}
		}
		for _, way := range []struct {
			name string
			do   func() error
		}{
			{"by-hand", func() error { return replaceByHand(int(d.h), data) }},
			{"fsx", staged(Options{})},
			{"fsx-file-only", staged(Options{Flush: FlushFile})},
			{"fsx-no-flush", staged(Options{Flush: FlushNone})},
			{"fsx-ordered", func() error {
				_, err := d.WriteOrdered(context.Background(), "ordered", data, 0)
				return err
			}},
			{"renameio", func() error { return renameio.WriteFile(filepath.Join(dir, "renameio"), data, 0o600) }},
			{"renameio-beside", func() error {
				return renameio.WriteFile(filepath.Join(dir, "beside"), data, 0o600, renameio.WithTempDir(dir))
			}},
		} {
			b.Run(where+"/"+way.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := way.do(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
