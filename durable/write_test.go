package durable_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/landfast/landfast/durable"
	"github.com/landfast/landfast/fsx"
)

// realRoot is a real directory as a root, with a directory sub in it.
func realRoot(t *testing.T) (string, *fsx.Root) {
	t.Helper()
	path, _ := realDir(t)
	if err := os.Mkdir(filepath.Join(path, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	root, err := fsx.OpenRoot(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return path, root
}

// tree is every file below path with its content; a staged file that was left
// behind shows in it.
func tree(t *testing.T, path string) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(path, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		rel, _ := filepath.Rel(path, p)
		got[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func wantTree(t *testing.T, path string, want map[string]string) {
	t.Helper()
	if got := tree(t, path); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("there is %.200v, want %.200v", got, want)
	}
}

// verbs are the ways to write one file that replace, and the one that doesn't.
var verbs = map[string]func(context.Context, *fsx.Root, string, string) error{
	"write-file": func(ctx context.Context, r *fsx.Root, rel, content string) error {
		_, err := durable.WriteFile(ctx, r, rel, []byte(content), durable.Options{})
		return err
	},
	"publish": func(ctx context.Context, r *fsx.Root, rel, content string) error {
		_, err := durable.Publish(ctx, r, rel, []byte(content), durable.Options{})
		return err
	},
	"create": func(ctx context.Context, r *fsx.Root, rel, content string) error {
		f, err := durable.Create(r, rel, durable.Options{})
		if err != nil {
			return err
		}
		for part := range strings.SplitAfterSeq(content, "e") {
			if _, err := f.Write([]byte(part)); err != nil {
				return errors.Join(err, f.Abort())
			}
		}
		_, err = f.Commit(ctx)
		return err
	},
}

func TestEveryVerbPutsWholeContentInPlace(t *testing.T) {
	for verb, write := range verbs {
		t.Run(verb, func(t *testing.T) {
			path, root := realRoot(t)
			big := strings.Repeat("content ", 100_000)
			want := map[string]string{"f": "one", "sub/f": big, "empty": ""}
			for rel, content := range want {
				if err := write(ctx, root, rel, content); err != nil {
					t.Errorf("%s: %v", rel, err)
				}
			}
			wantTree(t, path, want)
			err := write(ctx, root, "f", "two")
			if verb == "publish" {
				var pe *fsx.PublishError
				if !errors.Is(err, fs.ErrExist) || !errors.As(err, &pe) || pe.State != fsx.NotPublished {
					t.Errorf("over an existing file: %v", err)
				}
			} else {
				want["f"] = "two"
				if err != nil {
					t.Errorf("over an existing file: %v", err)
				}
			}
			wantTree(t, path, want)
		})
	}
}

func TestEveryVerbSaysNotPublishedWhereItCannotBegin(t *testing.T) {
	for verb, write := range verbs {
		t.Run(verb, func(t *testing.T) {
			path, root := realRoot(t)
			if err := os.WriteFile(filepath.Join(path, "f"), []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			for rel, want := range map[string]error{
				"missing/f": fs.ErrNotExist,
				"f/g":       fsx.ErrNotDir,
				"../f":      fsx.ErrBadName,
				"/f":        fsx.ErrBadName,
				"":          fsx.ErrBadName,
				"sub/":      fsx.ErrBadName,
				"nul":       fsx.ErrBadName,
				"sub":       nil, // a directory: the cause differs by system
			} {
				err := write(ctx, root, rel, "new")
				var pe *fsx.PublishError
				if !errors.As(err, &pe) || pe.State != fsx.NotPublished || want != nil && !errors.Is(err, want) {
					t.Errorf("%q: %v, want %v", rel, err, want)
				}
			}
			wantTree(t, path, map[string]string{"f": "old"})
		})
	}
}

func TestAnEndedContextPublishesNothing(t *testing.T) {
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for verb, write := range verbs {
		path, root := realRoot(t)
		if err := write(ended, root, "f", "new"); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", verb, err)
		}
		wantTree(t, path, map[string]string{})
	}
	path, d := realDir(t)
	_, err := durable.Sequence(ended, []durable.Write{{Dir: d, Name: "a"}, {Dir: d, Name: "b"}}, nil, durable.Options{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("sequence: %v", err)
	}
	wantTree(t, path, map[string]string{})
}

func TestAFileIsInvisibleUntilCommitAndEndsOnce(t *testing.T) {
	path, root := realRoot(t)
	f, err := durable.Create(root, "sub/f", durable.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(f, "content")
	if _, err := os.Lstat(filepath.Join(path, "sub", "f")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("visible before its commit: %v", err)
	}
	if err := f.Abort(); err != nil {
		t.Error(err)
	}
	wantTree(t, path, map[string]string{})
	if _, err := f.Commit(ctx); err == nil {
		t.Error("committed after its end")
	}
	f, err = durable.Create(root, "sub/f", durable.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(f, "content")
	if _, err := f.CommitNew(ctx); err != nil {
		t.Error(err)
	}
	if err := f.Abort(); err != nil { // as a deferred one does
		t.Errorf("abort after the commit: %v", err)
	}
	if _, err := f.Write([]byte("more")); err == nil {
		t.Error("written after its end")
	}
	wantTree(t, path, map[string]string{"sub/f": "content"})
}

func TestASequenceThatCannotBeStagedPublishesNothing(t *testing.T) {
	path, d := realDir(t)
	if err := os.WriteFile(filepath.Join(path, "a"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := durable.Sequence(ctx, []durable.Write{
		{Dir: d, Name: "a", Data: []byte("new")},
		{Dir: d, Name: "b:c", Data: []byte("new")},
	}, nil, durable.Options{})
	if !errors.Is(err, fsx.ErrBadName) {
		t.Errorf("got %v", err)
	}
	wantTree(t, path, map[string]string{"a": "old"})
}

// What lies before the failed publish stays, what comes after it never appears.
func TestASequenceStopsAtATakenName(t *testing.T) {
	path, d := realDir(t)
	if err := os.WriteFile(filepath.Join(path, "b"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	sequence := func(b durable.Write) error {
		b.Dir, b.Name = d, "b"
		_, err := durable.Sequence(ctx, []durable.Write{{Dir: d, Name: "a", Data: []byte("new")}, b, {Dir: d, Name: "c", Data: []byte("new")}}, nil, durable.Options{})
		return err
	}
	for _, row := range []durable.Write{
		{Data: []byte("new"), New: true},
		{Data: []byte("new"), New: true, Same: true}, // other bytes of the same length
		{Data: []byte("older"), New: true, Same: true},
		{Data: nil, New: true, Same: true},
	} {
		var pe *fsx.PublishError
		if err := sequence(row); !errors.Is(err, fs.ErrExist) || !errors.As(err, &pe) || pe.State != fsx.NotPublished {
			t.Errorf("%q: %v", row.Data, err)
		}
		wantTree(t, path, map[string]string{"a": "new", "b": "old"})
	}
	if err := sequence(durable.Write{Data: []byte("old"), New: true, Same: true}); err != nil {
		t.Errorf("the same bytes: %v", err)
	}
	wantTree(t, path, map[string]string{"a": "new", "b": "old", "c": "new"})
	if err := sequence(durable.Write{Data: []byte("newer")}); err != nil {
		t.Errorf("replacing: %v", err)
	}
	wantTree(t, path, map[string]string{"a": "new", "b": "newer", "c": "new"})
}

// Two savers of one state must not trip over each other.
func TestManyPutTheSameSnapshotAtOnce(t *testing.T) {
	path, d := realDir(t)
	s := durable.OpenSnapshots(d)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for rev := uint64(1); rev <= 10; rev++ {
				name, _, err := s.Put(ctx, rev, []byte("state"), durable.Options{})
				if err != nil {
					t.Errorf("revision %d: %v", rev, err)
				}
				if data, err := s.Read(name, 10); err != nil || string(data) != "state" {
					t.Errorf("%q, %v", data, err)
				}
			}
		})
	}
	wg.Wait()
	l, err := s.List(100)
	if err != nil || len(l.Found) != 10 || len(l.Leftovers) != 0 || len(l.Foreign) != 0 {
		t.Errorf("%d, %v, %v, %v", len(l.Found), l.Leftovers, l.Foreign, err)
	}
	if got := tree(t, path); len(got) != 10 {
		t.Errorf("%d files", len(got))
	}
}
