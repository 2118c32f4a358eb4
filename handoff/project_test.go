package handoff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/landfast/landfast/durable"
	"github.com/landfast/landfast/handoff/gitinfo"
	"github.com/landfast/landfast/handoff/ledger"
	"github.com/landfast/landfast/internal/testenv"
)

// testBranch is a project on a fixed branch, so that no test depends on git.
func testBranch(name string) func(context.Context, string) gitinfo.Info {
	return func(context.Context, string) gitinfo.Info {
		return gitinfo.Info{State: gitinfo.OK, Branch: &name}
	}
}

func open(t *testing.T, root string) *Project {
	t.Helper()
	p, err := Open(root, Options{Git: testBranch("main")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func goal(id, text string) ledger.RecordInput {
	in, err := ledger.ParseRecordInput(fmt.Appendf(nil, `{"id":%q,"kind":"goal","text":%q,"source":"test"}`, id, text))
	if err != nil {
		panic(err)
	}
	return in
}

func record(t *testing.T, p *Project, in ledger.RecordInput) ledger.Record {
	t.Helper()
	r, err := p.Record(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// needLink ends the test where making a link succeeded without making one
// (Wine).
func needLink(t *testing.T, path string) {
	t.Helper()
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 {
		testenv.NotHere(t, "this system makes no links")
	}
}

func wantCode(t *testing.T, err error, want Code) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an Error with code %s", err, want)
	}
	if e.Code != want {
		t.Fatalf("got code %s (%v), want %s", e.Code, e, want)
	}
	return e
}

// tree is every path below dir with its content, to see that nothing changed.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		data := []byte(nil)
		if d.Type().IsRegular() {
			data, _ = os.ReadFile(path)
		}
		fmt.Fprintf(&b, "%s %s %x\n", rel, d.Type(), data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestResumeAndDoctorCreateNothingInAProjectNeverSetUp(t *testing.T) {
	root := testenv.TempDir(t)
	p := open(t, root)
	v, err := p.Resume(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if v.Revision != 0 || len(v.Records) != 0 {
		t.Errorf("got revision %d, %d records", v.Revision, len(v.Records))
	}
	h, err := p.Doctor(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if h.State != Empty || h.Healthy {
		t.Errorf("got %s, healthy %v", h.State, h.Healthy)
	}
	if _, err := p.Recover(context.Background(), RecoverOptions{}); err == nil {
		t.Error("recover found something in an empty project")
	}
	_, err = p.Backup(context.Background())
	wantCode(t, err, Refused)
	if es, _ := os.ReadDir(root); len(es) != 0 {
		t.Errorf("created %v", es)
	}
}

func TestRecordIsKeptWithASnapshotOfItAndOfTheOneBefore(t *testing.T) {
	root := testenv.TempDir(t)
	p := open(t, root)
	record(t, p, goal("a", "first"))
	before, err := os.ReadFile(filepath.Join(root, ".landfast/ledger.json"))
	if err != nil {
		t.Fatal(err)
	}
	r := record(t, p, goal("b", "second"))
	if r.Revision != 2 {
		t.Errorf("revision %d, want 2", r.Revision)
	}
	now, err := os.ReadFile(filepath.Join(root, ".landfast/ledger.json"))
	if err != nil {
		t.Fatal(err)
	}
	for rev, data := range map[uint64][]byte{1: before, 2: now} {
		got, err := os.ReadFile(filepath.Join(root, ".landfast/snapshots", durable.SnapshotName(rev, data)))
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("snapshot of revision %d: %v", rev, err)
		}
	}
	info, err := os.Stat(filepath.Join(root, ".landfast/ledger.json"))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
	h, err := p.Doctor(context.Background())
	if err != nil || !h.Healthy || !h.Protected || h.Revision != 2 {
		t.Errorf("doctor: %+v, %v", h, err)
	}
}

func TestPreviousSnapshotIsMadeAgainBeforeTheNextChange(t *testing.T) {
	root := testenv.TempDir(t)
	p := open(t, root)
	record(t, p, goal("a", "first"))
	snaps := filepath.Join(root, ".landfast/snapshots")
	gone, err := os.ReadDir(snaps)
	if err != nil || len(gone) != 1 {
		t.Fatal(gone, err)
	}
	if err := os.Remove(filepath.Join(snaps, gone[0].Name())); err != nil {
		t.Fatal(err)
	}
	record(t, p, goal("b", "second"))
	es, err := os.ReadDir(snaps)
	if err != nil || len(es) != 2 {
		t.Fatalf("%d snapshots, %v; want 2", len(es), err)
	}
}

// A damaged copy of the current state must not take down a healthy ledger.
func TestDamagedCopyOfTheCurrentStateIsSetAsideAndBlocksNothing(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"one byte more": func(p string) error {
			f, err := os.OpenFile(p, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteString(" ")
			return errors.Join(err, f.Close())
		},
		"empty":     func(p string) error { return os.Truncate(p, 0) },
		"link":      func(p string) error { return errors.Join(os.Remove(p), os.Symlink("/etc/passwd", p)) },
		"directory": func(p string) error { return errors.Join(os.Remove(p), os.Mkdir(p, 0o700)) },
	} {
		t.Run(name, func(t *testing.T) {
			root := testenv.TempDir(t)
			p := open(t, root)
			record(t, p, goal("a", "first"))
			data, err := os.ReadFile(filepath.Join(root, ".landfast/ledger.json"))
			if err != nil {
				t.Fatal(err)
			}
			copyName := durable.SnapshotName(1, data)
			path := filepath.Join(root, ".landfast/snapshots", copyName)
			if err := damage(path); err != nil {
				t.Fatal(err)
			}
			if name == "link" {
				needLink(t, path)
			}
			if _, err := p.Resume(context.Background()); err != nil {
				t.Fatalf("resume: %v", err)
			}
			record(t, p, goal("b", "second"))
			h, err := p.Doctor(context.Background())
			if err != nil || !h.Healthy {
				t.Errorf("doctor after the next record: %+v, %v", h, err)
			}
			es, err := os.ReadDir(filepath.Join(root, ".landfast/quarantine"))
			if err != nil || len(es) == 0 {
				t.Errorf("the damaged copy is not in quarantine: %v", err)
			}
		})
	}
}

// Where nothing can be set aside, recovery is refused, and doctor says why.
func TestUnsafeQuarantineIsNamedAndNothingIsReplaced(t *testing.T) {
	ctx := context.Background()
	root := testenv.TempDir(t)
	p := open(t, root)
	record(t, p, goal("a", "first"))
	if err := os.WriteFile(filepath.Join(root, ".landfast/quarantine"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, ".landfast/ledger.json")
	if err := os.WriteFile(path, []byte("bent"), 0o600); err != nil {
		t.Fatal(err)
	}
	preview, err := p.Recover(ctx, RecoverOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Recover(ctx, RecoverOptions{Apply: true, Expect: preview.Expect})
	wantCode(t, err, Refused)
	if got, err := os.ReadFile(path); err != nil || string(got) != "bent" {
		t.Errorf("the ledger's place holds %q, %v", got, err)
	}
	h, err := p.Doctor(ctx)
	if err != nil || !slices.ContainsFunc(h.Findings, func(f Finding) bool { return f.Code == "quarantine-unsafe" }) {
		t.Errorf("doctor: %+v, %v", h, err)
	}
}

// A damaged copy of an older state is reported by name, and backup sets it aside.
func TestBackupSetsDamagedCopiesAside(t *testing.T) {
	root := testenv.TempDir(t)
	p := open(t, root)
	record(t, p, goal("a", "first"))
	record(t, p, goal("b", "second"))
	old, err := filepath.Glob(filepath.Join(root, ".landfast/snapshots/r1-*.json"))
	if err != nil || len(old) != 1 {
		t.Fatal(old, err)
	}
	if err := os.WriteFile(old[0], []byte("bent"), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := p.Doctor(context.Background())
	if err != nil || h.Healthy || len(h.InvalidSnapshots) != 1 || h.InvalidSnapshots[0] != filepath.Base(old[0]) {
		t.Errorf("doctor: %+v, %v", h, err)
	}
	if _, err := p.Backup(context.Background()); err != nil {
		t.Fatal(err)
	}
	h, err = p.Doctor(context.Background())
	if err != nil || !h.Healthy {
		t.Errorf("doctor after backup: %+v, %v", h, err)
	}
	kept, err := filepath.Glob(filepath.Join(root, ".landfast/quarantine/*"+filepath.Base(old[0])))
	if err != nil || len(kept) != 1 {
		t.Errorf("quarantine: %v, %v", kept, err)
	}
}

// damages are the ways in which a ledger goes bad, with the finding that
// doctor must give and whether something is to be preserved.
var damages = map[string]struct {
	code      string
	exit      Code
	preserved bool
	do        func(path string) error
}{
	"truncated":  {codeTruncated, Refused, true, func(p string) error { return os.Truncate(p, 100) }},
	"emptied":    {codeEmptyFile, Refused, true, func(p string) error { return os.Truncate(p, 0) }},
	"zeroed":     {codeZeroed, Refused, true, func(p string) error { return os.WriteFile(p, make([]byte, 4096), 0o600) }},
	"link":       {codeLink, Refused, true, func(p string) error { return errors.Join(os.Rename(p, p+".away"), os.Symlink(p+".away", p)) }},
	"dangling":   {codeLink, Refused, true, func(p string) error { return errors.Join(os.Remove(p), os.Symlink("nowhere", p)) }},
	"directory":  {codeDirectory, Refused, true, func(p string) error { return errors.Join(os.Remove(p), os.MkdirAll(p+"/sub", 0o700)) }},
	"deleted":    {codeMissing, Refused, false, os.Remove},
	"not JSON":   {codeInvalid, Refused, true, func(p string) error { return os.WriteFile(p, []byte("hello}\n"), 0o600) }},
	"one change": {codeInvalid, Refused, true, changeOneByte},
	"oversized":  {codeTooLarge, Refused, true, func(p string) error { return os.WriteFile(p, bytes.Repeat([]byte("x"), 3<<20), 0o600) }},
	"huge":       {codeTooLarge, Refused, true, func(p string) error { return os.Truncate(p, 40<<20) }},
}

func changeOneByte(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, bytes.Replace(data, []byte("first"), []byte("First"), 1), 0o600)
}

func TestDamageIsNamedRefusedPreviewedAndUndone(t *testing.T) {
	for name, d := range damages {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			root := testenv.TempDir(t)
			path := filepath.Join(root, ".landfast/ledger.json")
			p := open(t, root)
			record(t, p, goal("a", "first"))
			record(t, p, goal("b", "second"))
			if err := d.do(path); err != nil {
				t.Fatal(err)
			}
			if d.code == codeLink {
				needLink(t, path)
			}
			damaged := tree(t, root)

			h, err := p.Doctor(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if h.Healthy || len(h.Findings) == 0 || h.Findings[0].Code != d.code {
				t.Fatalf("doctor: healthy %v, findings %+v; want %s", h.Healthy, h.Findings, d.code)
			}
			_, err = p.Resume(ctx)
			e := wantCode(t, err, d.exit)
			if strings.Contains(e.Message, "first") || strings.Contains(e.Message, "hello") {
				t.Errorf("the message quotes the file: %s", e.Message)
			}
			_, err = p.Record(ctx, goal("c", "third"))
			wantCode(t, err, d.exit)
			if now := tree(t, root); strip(now) != strip(damaged) {
				t.Errorf("refusing changed something:\n%s\nwas\n%s", now, damaged)
			}

			preview, err := p.Recover(ctx, RecoverOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if preview.RestoreRevision != 2 || preview.Applied {
				t.Errorf("preview: %+v", preview)
			}
			_, err = p.Recover(ctx, RecoverOptions{Apply: true, Expect: strings.Repeat("0", 64)})
			wantCode(t, err, Stale)
			if now := tree(t, root); strip(now) != strip(damaged) {
				t.Errorf("a wrong fingerprint changed something:\n%s\nwas\n%s", now, damaged)
			}

			done, err := p.Recover(ctx, RecoverOptions{Apply: true, Expect: preview.Expect})
			if err != nil {
				t.Fatal(err)
			}
			if !done.Applied || done.RecoveryID == "" || (done.Preserved != nil) != d.preserved {
				t.Errorf("applied: %+v", done)
			}
			if done.Preserved != nil {
				if _, err := os.Lstat(filepath.Join(root, *done.Preserved)); err != nil {
					t.Errorf("not in quarantine: %v", err)
				}
			}
			v, err := p.Resume(ctx)
			if err != nil || v.Revision != 2 || len(v.Records) != 2 {
				t.Errorf("resume after recovery: %+v, %v", v, err)
			}
			h, err = p.Doctor(ctx)
			if err != nil || !h.Healthy || h.RecoveryID == nil || *h.RecoveryID != done.RecoveryID {
				t.Errorf("doctor after recovery: %+v, %v", h, err)
			}

			_, err = p.Recover(ctx, RecoverOptions{Apply: true, Expect: preview.Expect})
			wantCode(t, err, Stale) // the old fingerprint is spent
			_, err = p.Record(ctx, goal("c", "third"))
			wantCode(t, err, Stale) // a writer from before the recovery
		})
	}
}

// strip leaves out the lock file, which an attempt may have made or marked.
func strip(tree string) string {
	var keep []string
	for line := range strings.Lines(tree) {
		if !strings.Contains(line, lockName) {
			keep = append(keep, line)
		}
	}
	return strings.Join(keep, "")
}

func TestPreservedBytesAreTheDamagedOnes(t *testing.T) {
	ctx := context.Background()
	root := testenv.TempDir(t)
	p := open(t, root)
	record(t, p, goal("a", "first"))
	path := filepath.Join(root, ".landfast/ledger.json")
	if err := os.WriteFile(path, []byte("precious\x00bytes"), 0o600); err != nil {
		t.Fatal(err)
	}
	preview, err := p.Recover(ctx, RecoverOptions{})
	if err != nil {
		t.Fatal(err)
	}
	done, err := p.Recover(ctx, RecoverOptions{Apply: true, Expect: preview.Expect})
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, *done.Preserved))
	if err != nil || string(got) != "precious\x00bytes" {
		t.Errorf("quarantine holds %q, %v", got, err)
	}
}

// A plain copy of the folder changes modification times; order is by revision.
func TestRecoveryTakesTheNewestRevisionNotTheNewestFile(t *testing.T) {
	ctx := context.Background()
	root := testenv.TempDir(t)
	p := open(t, root)
	for i := range 3 {
		record(t, p, goal(fmt.Sprint("g", i), "text"))
	}
	snaps, err := filepath.Glob(filepath.Join(root, ".landfast/snapshots/r1-*.json"))
	if err != nil || len(snaps) != 1 {
		t.Fatal(snaps, err)
	}
	future := time.Now().Add(time.Hour)
	if err := os.Chtimes(snaps[0], future, future); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(root, ".landfast/ledger.json")); err != nil {
		t.Fatal(err)
	}
	preview, err := p.Recover(ctx, RecoverOptions{})
	if err != nil || preview.RestoreRevision != 3 {
		t.Errorf("offers revision %d, %v; want 3", preview.RestoreRevision, err)
	}
}

// Going back on purpose starts a new generation; the abandoned one, though of
// higher revisions, is not what the next recovery offers.
func TestRecoveryPrefersTheYoungestGeneration(t *testing.T) {
	ctx := context.Background()
	root := testenv.TempDir(t)
	p := open(t, root)
	for i := range 4 {
		record(t, p, goal(fmt.Sprint("g", i), "text"))
	}
	snaps, _ := filepath.Glob(filepath.Join(root, ".landfast/snapshots/r2-*.json"))
	name := filepath.Base(snaps[0])
	preview, err := p.Recover(ctx, RecoverOptions{Snapshot: name})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Millisecond) // updated_at has milliseconds
	if _, err := p.Recover(ctx, RecoverOptions{Snapshot: name, Apply: true, Expect: preview.Expect}); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(root, ".landfast/ledger.json"), 0); err != nil {
		t.Fatal(err)
	}
	preview, err = p.Recover(ctx, RecoverOptions{})
	if err != nil || preview.RestoreRevision != 2 {
		t.Errorf("offers revision %d, %v; want 2, of the new generation", preview.RestoreRevision, err)
	}
}

func TestPreviewThatCannotBeWrittenFailsNothing(t *testing.T) {
	for name, block := range map[string]func(path string) error{
		"link":      func(p string) error { return os.Symlink("/nonexistent", p) },
		"directory": func(p string) error { return os.MkdirAll(p+"/x", 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			root := testenv.TempDir(t)
			if err := os.MkdirAll(filepath.Join(root, ".landfast"), 0o700); err != nil {
				t.Fatal(err)
			}
			blocked := filepath.Join(root, ".landfast/HANDOFF.md")
			if err := block(blocked); err != nil {
				t.Fatal(err)
			}
			if name == "link" {
				needLink(t, blocked)
			}
			p := open(t, root)
			record(t, p, goal("a", "first"))
			if _, err := p.Resume(context.Background()); err != nil {
				t.Errorf("resume: %v", err)
			}
			h, err := p.Doctor(context.Background())
			if err != nil || !h.Healthy || h.Findings[0].Code != "preview-blocked" {
				t.Errorf("doctor: %+v, %v", h, err)
			}
		})
	}
}

func TestLeftoversOfKilledWritersAreAFindingAndSweptByTheNextChange(t *testing.T) {
	root := testenv.TempDir(t)
	p := open(t, root)
	record(t, p, goal("a", "first"))
	left := filepath.Join(root, ".landfast", ".lf-ledger.json~65478587-6c59ad12-1ulajuk-cxy-cjzn~0011223344556677aabb.tmp")
	mine := filepath.Join(root, ".landfast", ".lf-notes~65478587-6c59ad12-1ulajuk-cxy-cjzn~0011223344556677aabb.tmp")
	for _, path := range []string{left, mine} {
		if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h, err := p.Doctor(context.Background())
	if err != nil || !h.Healthy || len(h.Findings) != 1 || h.Findings[0].Code != "leftover" {
		t.Errorf("doctor: %+v, %v", h, err)
	}
	record(t, p, goal("b", "second"))
	if _, err := os.Lstat(left); err == nil {
		t.Error("the ledger's leftover is still there")
	}
	if _, err := os.Lstat(mine); err != nil {
		t.Error("a staged file that is not the ledger's was removed")
	}
}

func TestOnlyTheNewestTwentySnapshotsStay(t *testing.T) {
	root := testenv.TempDir(t)
	p := open(t, root)
	for i := range retention + 5 {
		record(t, p, goal(fmt.Sprint("g", i), "text"))
	}
	es, err := os.ReadDir(filepath.Join(root, ".landfast/snapshots"))
	if err != nil || len(es) != retention {
		t.Errorf("%d snapshots, %v; want %d", len(es), err, retention)
	}
}

func TestManyWritersInOneProcessAllSucceed(t *testing.T) {
	root := testenv.TempDir(t)
	const writers, each = 8, 10
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			p, err := Open(root, Options{Git: testBranch("main"), LockTimeout: time.Minute})
			if err != nil {
				t.Error(err)
				return
			}
			defer p.Close()
			for i := range each {
				if _, err := p.Record(context.Background(), goal(fmt.Sprintf("w%d-%d", w, i), "text")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	v, err := open(t, root).Resume(context.Background())
	if err != nil || v.Revision != writers*each || len(v.Records) != writers*each {
		t.Errorf("revision %d, %d records, %v", v.Revision, len(v.Records), err)
	}
}

func TestStateDirectoryThatIsALinkIsRefused(t *testing.T) {
	ctx := context.Background()
	root, elsewhere := testenv.TempDir(t), testenv.TempDir(t)
	if err := os.Symlink(elsewhere, filepath.Join(root, ".landfast")); err != nil {
		testenv.Skip(t, testenv.Symlink, err.Error())
	}
	needLink(t, filepath.Join(root, ".landfast"))
	p := open(t, root)
	_, err := p.Record(ctx, goal("a", "first"))
	wantCode(t, err, Refused)
	_, err = p.Resume(ctx)
	wantCode(t, err, Refused)
	h, err := p.Doctor(ctx)
	if err != nil || h.Healthy || h.Findings[0].Code != codeStateDir {
		t.Errorf("doctor: %+v, %v", h, err)
	}
	if es, _ := os.ReadDir(elsewhere); len(es) != 0 {
		t.Errorf("wrote through the link: %v", es)
	}
}
