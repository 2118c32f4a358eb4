package durable_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/landfast/landfast/durable"
	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/internal/testenv"
)

func realDir(t *testing.T) (string, *fsx.Dir) {
	t.Helper()
	path := testenv.TempDir(t)
	root, err := fsx.OpenRoot(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	d, err := root.Dir(".")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return path, d
}

func TestSnapshotNamesAreReadExactly(t *testing.T) {
	name := durable.SnapshotName(12, []byte("x"))
	if rev, digest, ok := durable.ParseSnapshotName(name); !ok || rev != 12 || !strings.Contains(name, digest) {
		t.Errorf("%s: %d %s %v", name, rev, digest, ok)
	}
	hex := strings.Repeat("a", 64)
	for num, want := range map[string]uint64{"0": 0, "1": 1, "18446744073709551615": math.MaxUint64} {
		if rev, digest, ok := durable.ParseSnapshotName("r" + num + "-" + hex + ".json"); !ok || rev != want || digest != hex {
			t.Errorf("%s: %d %s %v", num, rev, digest, ok)
		}
	}
	for _, bad := range []string{
		"", "r1.json", "r1-.json", "r01-" + hex + ".json", "r-1-" + hex + ".json", "r+1-" + hex + ".json", "r1-" + strings.ToUpper(hex) + ".json",
		"r1-" + hex, "r1-" + hex + ".json.tmp", "x1-" + hex + ".json", "r1-" + hex[1:] + ".json", "r18446744073709551616-" + hex + ".json", "r1-" + hex + "a.json",
	} {
		if _, _, ok := durable.ParseSnapshotName(bad); ok {
			t.Errorf("%q passes", bad)
		}
	}
}

func TestADamagedSnapshotIsNeitherReadNorOverwrittenNorPruned(t *testing.T) {
	path, d := realDir(t)
	s := durable.OpenSnapshots(d)
	name, _, err := s.Put(ctx, 1, []byte("good"), durable.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, name), []byte("gOod"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read(name, 100); !errors.Is(err, durable.ErrDamaged) {
		t.Errorf("read: %v", err)
	}
	if _, _, err := s.Put(ctx, 1, []byte("good"), durable.Options{}); !errors.Is(err, durable.ErrDamaged) {
		t.Errorf("put: %v", err)
	}
	for rev := uint64(2); rev < 6; rev++ {
		if _, _, err := s.Put(ctx, rev, fmt.Appendf(nil, "%d", rev), durable.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	removed, err := s.Prune(2, 100)
	if err != nil || len(removed) != 2 {
		t.Errorf("pruned %v, %v", removed, err)
	}
	if got, err := os.ReadFile(filepath.Join(path, name)); err != nil || string(got) != "gOod" {
		t.Errorf("the damaged copy holds %q, %v", got, err)
	}
}

func TestSnapshotOrderAndPruningFollowTheRevisionNotTheClock(t *testing.T) {
	path, d := realDir(t)
	s := durable.OpenSnapshots(d)
	var names []string
	for rev := uint64(1); rev <= 12; rev++ {
		name, _, err := s.Put(ctx, rev, fmt.Appendf(nil, "%d", rev), durable.Options{})
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
		when := time.Now().Add(-time.Duration(rev) * time.Hour) // the newest looks oldest
		if err := os.Chtimes(filepath.Join(path, name), when, when); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(path, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	removed, err := s.Prune(3, 100, names[0])
	if err != nil || len(removed) != 8 {
		t.Errorf("removed %d, %v", len(removed), err)
	}
	l, err := s.List(100)
	if err != nil || len(l.Found) != 4 || l.Found[0].Revision != 12 || l.Found[3].Revision != 1 || len(l.Foreign) != 1 {
		t.Errorf("%+v, %v", l, err)
	}
}

func FuzzParseSnapshotName(f *testing.F) {
	hex := strings.Repeat("0", 64)
	for _, s := range []string{
		durable.SnapshotName(1, nil), durable.SnapshotName(math.MaxUint64, []byte("x")), "", "r", "r1", "r1-", "r-" + hex + ".json", "r00-" + hex + ".json",
		"r1-" + hex + "-" + hex + ".json", "r1-" + hex + ".JSON", "r1_0-" + hex + ".json", "r0x1-" + hex + ".json", "r1-" + hex + ".json\x00",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		rev, digest, ok := durable.ParseSnapshotName(s)
		if ok && s != fmt.Sprintf("r%d-%s.json", rev, digest) {
			t.Errorf("%q is read as revision %d", s, rev)
		}
	})
}
