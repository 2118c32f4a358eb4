//go:build linux || darwin

package durable_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/landfast/landfast/durable"
	"github.com/landfast/landfast/fsx"
)

// fagemx/edda#1190: a state of NUL bytes, or of none, after an interruption. It
// is damage, whatever made it: never handed out, replaced or pruned.
func TestEmptyNULAndCutCopiesAreDamaged(t *testing.T) {
	good := strings.Repeat("state ", 1000)
	for name, bad := range map[string]string{
		"empty": "", "NUL": strings.Repeat("\x00", len(good)), "cut": good[:4096], "NUL at the end": good[:4096] + strings.Repeat("\x00", len(good)-4096), "longer": good + " ",
	} {
		t.Run(name, func(t *testing.T) {
			path, d := realDir(t)
			s := durable.OpenSnapshots(d)
			file := durable.SnapshotName(1, []byte(good))
			if err := os.WriteFile(filepath.Join(path, file), []byte(bad), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Read(file, 1<<20); !errors.Is(err, durable.ErrDamaged) {
				t.Errorf("read: %v", err)
			}
			if _, _, err := s.Put(ctx, 1, []byte(good), durable.Options{}); !errors.Is(err, durable.ErrDamaged) {
				t.Errorf("put: %v", err)
			}
			if removed, err := s.Prune(0, 1<<20); err != nil || len(removed) != 0 {
				t.Errorf("pruned %v, %v", removed, err)
			}
			wantTree(t, path, map[string]string{file: bad})
		})
	}
}

// What is called like a snapshot and is no file is foreign: neither followed
// nor waited for nor removed.
func TestWhatIsNoFileIsForeignWhateverItIsCalled(t *testing.T) {
	path, d := realDir(t)
	elsewhere := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(elsewhere, []byte("link"), 0o600); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, kind := range []string{"link", "dangling", "directory", "fifo"} {
		names[kind] = durable.SnapshotName(1, []byte(kind))
	}
	for _, err := range []error{
		os.Symlink(elsewhere, filepath.Join(path, names["link"])), os.Symlink("nowhere", filepath.Join(path, names["dangling"])),
		os.Mkdir(filepath.Join(path, names["directory"]), 0o700), syscall.Mkfifo(filepath.Join(path, names["fifo"]), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	s := durable.OpenSnapshots(d)
	for kind, name := range names {
		want := fsx.ErrNotRegular
		if kind == "link" || kind == "dangling" {
			want = fsx.ErrLink // even where the bytes behind it are the right ones
		}
		if _, err := s.Read(name, 100); !errors.Is(err, want) {
			t.Errorf("read %s: %v", kind, err)
		}
		if _, _, err := s.Put(ctx, 1, []byte(kind), durable.Options{}); !errors.Is(err, want) {
			t.Errorf("put %s: %v", kind, err)
		}
	}
	l, err := s.List(100)
	if err != nil || len(l.Found) != 0 || len(l.Foreign) != len(names) {
		t.Errorf("%+v, %v", l, err)
	}
	if removed, err := s.Prune(0, 100); err != nil || len(removed) != 0 {
		t.Errorf("pruned %v, %v", removed, err)
	}
	if es, err := os.ReadDir(path); err != nil || len(es) != len(names) {
		t.Errorf("there are %v, %v", es, err)
	}
	if got, err := os.ReadFile(elsewhere); err != nil || string(got) != "link" {
		t.Errorf("behind the link: %q, %v", got, err)
	}
}

func TestACopyBeyondTheLimitIsNotReadAndNotPruned(t *testing.T) {
	path, d := realDir(t)
	s := durable.OpenSnapshots(d)
	for rev, size := range map[uint64]int{1: 100, 2: 101, 3: 1} {
		if _, _, err := s.Put(ctx, rev, make([]byte, size), durable.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	big := durable.SnapshotName(2, make([]byte, 101))
	if _, err := s.Read(big, 100); !errors.Is(err, fsx.ErrTooLarge) {
		t.Errorf("read: %v", err)
	}
	removed, err := s.Prune(1, 100)
	if err != nil || fmt.Sprint(removed) != fmt.Sprint([]string{durable.SnapshotName(1, make([]byte, 100))}) {
		t.Errorf("removed %v, %v", removed, err)
	}
	if _, err := os.Lstat(filepath.Join(path, big)); err != nil {
		t.Error(err)
	}
	if _, err := s.List(1); !errors.Is(err, fsx.ErrTooMany) {
		t.Errorf("list beyond its limit: %v", err)
	}
}

// docker/cli#5281 for the verbs here: a link is refused and what it leads to
// untouched; the caller's word replaces the link itself.
func TestLinksAreRefusedAndNeverFollowed(t *testing.T) {
	path, root := realRoot(t)
	for _, err := range []error{
		os.WriteFile(filepath.Join(path, "real"), []byte("old"), 0o600), os.Symlink("real", filepath.Join(path, "link")),
		os.Symlink("sub", filepath.Join(path, "way")), os.Symlink("nowhere", filepath.Join(path, "dangling")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for verb, write := range verbs {
		for _, rel := range []string{"link", "dangling", "way/f"} {
			var pe *fsx.PublishError
			if err := write(ctx, root, rel, "new"); !errors.Is(err, fsx.ErrLink) || !errors.As(err, &pe) || pe.State != fsx.NotPublished {
				t.Errorf("%s %s: %v", verb, rel, err)
			}
		}
	}
	if _, err := durable.Publish(ctx, root, "link", []byte("new"), durable.Options{ReplaceLink: true}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("publish over a link: %v", err)
	}
	if _, err := durable.WriteFile(ctx, root, "link", []byte("new"), durable.Options{ReplaceLink: true}); err != nil {
		t.Error(err)
	}
	if info, err := os.Lstat(filepath.Join(path, "link")); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the link was not replaced: %v, %v", info, err)
	}
	for name, want := range map[string]string{"link": "new", "real": "old"} {
		if got, err := os.ReadFile(filepath.Join(path, name)); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
	}
	if es, err := os.ReadDir(path); err != nil || len(es) != 5 {
		t.Errorf("there are %v, %v", es, err)
	}
}
