//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/landfast/landfast/internal/testenv"
)

// straced runs landfast under strace and gives the calls that were made.
func straced(t *testing.T, dir string, args ...string) string {
	t.Helper()
	strace := testenv.Need(t, testenv.Strace, "strace")
	log := filepath.Join(testenv.TempDir(t), "calls")
	inner := landfast(t, dir, args...)
	cmd := exec.Command(strace, append([]string{"-f", "-o", log, "-e", "trace=%process,fsync,fdatasync,sync,syncfs,sync_file_range,msync"}, inner.Args...)...)
	cmd.Dir, cmd.Env = inner.Dir, inner.Env
	if r := runs(t, cmd, nil); r.status != 0 {
		t.Fatalf("exit %d: %s", r.status, r.errs)
	}
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

var (
	syncCall  = regexp.MustCompile(`(?m)^\d+ +(fsync|fdatasync|sync|syncfs|sync_file_range|msync)\(`)
	execCall  = regexp.MustCompile(`(?m)^\d+ +execve`)
	childCall = regexp.MustCompile(`(?m)^\d+ +(fork|vfork|clone3?)\(.*`)
)

// The promise of two flush rounds, counted on the real command: four sync calls,
// five on the very first record because the project directory has just received
// .landfast; no child process.
func TestRecordMakesFourSyncCallsAndNoChildProcess(t *testing.T) {
	dir := testenv.TempDir(t)
	for i, want := range []int{5, 4, 4} {
		calls := straced(t, dir, "handoff", "record", "--json", input(fmt.Sprint("r", i)))
		if got := len(syncCall.FindAllString(calls, -1)); got != want {
			t.Errorf("record %d: %d sync calls, want %d\n%s", i+1, got, want, calls)
		}
		if got := len(execCall.FindAllString(calls, -1)); got != 1 {
			t.Errorf("record %d: %d programs were started, want itself only", i+1, got)
		}
		for _, c := range childCall.FindAllString(calls, -1) {
			if !strings.Contains(c, "CLONE_THREAD") && !strings.Contains(c, "resumed") {
				t.Errorf("record %d: a child process: %s", i+1, c)
			}
		}
	}
	if got := len(syncCall.FindAllString(straced(t, dir, "handoff", "resume"), -1)); got != 0 {
		t.Errorf("resume: %d sync calls, want 0", got)
	}
}

const nobody = 65534

// asNobody runs landfast as another user, because root ignores modes.
func asNobody(t *testing.T, dir string, args ...string) result {
	t.Helper()
	cmd := landfast(t, dir, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return runs(t, cmd, nil)
}

// readable makes a folder that others can enter; the test's own is private.
func readable(t *testing.T) string {
	t.Helper()
	testenv.NeedRoot(t)
	dir, err := os.MkdirTemp("", "landfast-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if self, err := os.Executable(); err != nil || binary() == self {
		testenv.Skip(t, testenv.GoTool, "the command could not be built where another user can run it")
	}
	return dir
}

func TestReadOnlyCheckoutCanResumeAndDoctor(t *testing.T) {
	dir := readable(t)
	must(t, dir, "handoff", "record", "--json", input("a"))
	if err := filepath.WalkDir(filepath.Join(dir, ".landfast"), func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Chmod(p, 0o555)
		}
		return os.Chmod(p, 0o444)
	}); err != nil {
		t.Fatal(err)
	}
	if r := asNobody(t, dir, "handoff", "resume", "--json"); r.status != 0 || !strings.Contains(r.out, `"revision": 1`) {
		t.Errorf("resume: exit %d: %s", r.status, r.errs)
	}
	if r := asNobody(t, dir, "handoff", "doctor"); r.status != 0 {
		t.Errorf("doctor: exit %d: %s%s", r.status, r.out, r.errs)
	}
	r := asNobody(t, dir, "handoff", "record", "--json", input("b"))
	if r.status != 6 || !strings.Contains(r.errs, "permission denied") {
		t.Errorf("record: exit %d: %s", r.status, r.errs)
	}
	// The same on a mount that is read-only for root as well.
	t.Run("mount", func(t *testing.T) {
		script := `mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && cd "$1" && shift && exec "$@"`
		inner := landfast(t, dir, "handoff", "record", "--json", input("b"))
		unshare := testenv.Need(t, testenv.Root, "unshare")
		for _, c := range []struct {
			status int
			args   []string
		}{{0, []string{"handoff", "resume"}}, {0, []string{"handoff", "doctor"}}, {6, []string{"handoff", "record", "--json", input("b")}}} {
			cmd := exec.Command(unshare, append([]string{"-m", "sh", "-c", script, "sh", dir, inner.Path}, c.args...)...)
			cmd.Env = inner.Env
			if r := runs(t, cmd, nil); r.status != c.status {
				t.Errorf("%v: exit %d, want %d: %s", c.args, r.status, c.status, r.errs)
			}
		}
	})
}

func TestUnreadableLedgerIsNamedKeptAndReplaced(t *testing.T) {
	dir := readable(t)
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	if r := asNobody(t, dir, "handoff", "record", "--json", input("a")); r.status != 0 {
		t.Fatalf("exit %d: %s", r.status, r.errs)
	}
	path := filepath.Join(dir, ".landfast/ledger.json")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"handoff", "resume"}, {"handoff", "record", "--json", input("b")}} {
		if r := asNobody(t, dir, args...); r.status != 6 || !strings.Contains(r.errs, "can't be read") {
			t.Errorf("%v: exit %d: %s", args, r.status, r.errs)
		}
	}
	if r := asNobody(t, dir, "handoff", "doctor", "--json"); r.status != 1 || !strings.Contains(r.out, "ledger-unreadable") {
		t.Errorf("doctor: exit %d: %s", r.status, r.out)
	}
	var preview struct{ Expect string }
	r := asNobody(t, dir, "handoff", "recover", "--json")
	if err := json.Unmarshal([]byte(r.out), &preview); err != nil {
		t.Fatalf("%v: %s", err, r.errs)
	}
	var done struct{ Preserved string }
	r = asNobody(t, dir, "handoff", "recover", "--apply", "--expect", preview.Expect, "--json")
	if err := json.Unmarshal([]byte(r.out), &done); err != nil {
		t.Fatalf("%v: %s", err, r.errs)
	}
	kept, err := os.ReadFile(filepath.Join(dir, done.Preserved))
	if err != nil || string(kept) != string(before) {
		t.Errorf("quarantine: %v", err)
	}
	if r := asNobody(t, dir, "handoff", "doctor"); r.status != 0 {
		t.Errorf("doctor: exit %d: %s", r.status, r.out)
	}
}

// tmpfs mounts a small filesystem for the length of the test.
func tmpfs(t *testing.T, options string) string {
	t.Helper()
	testenv.NeedRoot(t)
	dir := testenv.TempDir(t)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		testenv.Skip(t, testenv.Tmpfs, "can't mount one: "+err.Error())
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

func leftovers(t *testing.T, dir string) (found []string) {
	t.Helper()
	_ = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), ".lf-") {
			found = append(found, p)
		}
		return nil
	})
	return found
}

func TestFullDiskKeepsTheOldContentAndLeavesNothing(t *testing.T) {
	for name, options := range map[string]string{"blocks": "size=128k", "inodes": "size=1m,nr_inodes=10"} {
		t.Run(name, func(t *testing.T) {
			dir := tmpfs(t, options)
			must(t, dir, "handoff", "record", "--json", input("a"))
			if r := runs(t, landfast(t, dir, "write", "f"), strings.NewReader("old")); r.status != 0 {
				t.Fatalf("exit %d: %s", r.status, r.errs)
			}
			fill(t, dir)
			before, err := os.ReadFile(filepath.Join(dir, ".landfast/ledger.json"))
			if err != nil {
				t.Fatal(err)
			}
			r := runs(t, landfast(t, dir, "handoff", "record", "--json", input("b")), nil)
			if r.status != 6 || !strings.Contains(r.errs, "no space left on device") {
				t.Errorf("record: exit %d: %s", r.status, r.errs)
			}
			after, err := os.ReadFile(filepath.Join(dir, ".landfast/ledger.json"))
			if err != nil || string(after) != string(before) {
				t.Errorf("the ledger changed: %v", err)
			}
			r = runs(t, landfast(t, dir, "write", "f"), strings.NewReader(strings.Repeat("new", 100_000)))
			if r.status != 6 || !strings.Contains(r.errs, "no space left on device") {
				t.Errorf("write: exit %d: %s", r.status, r.errs)
			}
			if got, err := os.ReadFile(filepath.Join(dir, "f")); err != nil || string(got) != "old" {
				t.Errorf("f holds %d bytes, %v", len(got), err)
			}
			if left := leftovers(t, dir); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			must(t, dir, "handoff", "resume")
		})
	}
}

// fill takes what is left of the filesystem, blocks and inodes.
func fill(t *testing.T, dir string) {
	t.Helper()
	for i := 0; ; i++ {
		f, err := os.Create(filepath.Join(dir, fmt.Sprint("fill", i)))
		if err != nil {
			return
		}
		took := 0
		for err == nil {
			var n int
			n, err = f.Write(make([]byte, 4096))
			took += n
		}
		_ = f.Close()
		if took == 0 {
			return
		}
	}
}

func TestNeedDurableIsRefusedOnTmpfsBeforeAnythingIsTouched(t *testing.T) {
	dir := tmpfs(t, "size=1m")
	r := runs(t, landfast(t, dir, "write", "f", "--need", "durable", "--json"), strings.NewReader("x"))
	if r.status != 6 || !strings.Contains(r.errs, "tmpfs") {
		t.Errorf("exit %d: %s", r.status, r.errs)
	}
	if es, err := os.ReadDir(dir); err != nil || len(es) != 0 {
		t.Errorf("%v, %v", es, err)
	}
}

// A change that was made is never reported as a failure, even if nobody can be
// told of it.
func TestUnprintableAnswerDoesNotUnmakeAChange(t *testing.T) {
	dir := testenv.TempDir(t)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	var errs strings.Builder
	cmd := landfast(t, dir, "handoff", "record", "--json", input("a"))
	cmd.Stdout, cmd.Stderr = full, &errs
	if err := cmd.Run(); err != nil || !strings.Contains(errs.String(), "the change was made") {
		t.Errorf("%v: %s", err, errs.String())
	}
	cmd = landfast(t, dir, "handoff", "resume")
	cmd.Stdout = full
	if err := cmd.Run(); err == nil {
		t.Error("a resume that nobody could read succeeded")
	}
	if out := must(t, dir, "handoff", "resume", "--json"); !strings.Contains(out, `"revision": 1`) {
		t.Error(out)
	}
}

// The reader of the answer may be gone: a change must not end by SIGPIPE, which
// a caller would take for a failure.
func TestChangeWhoseReaderIsGoneSucceeds(t *testing.T) {
	dir := testenv.TempDir(t)
	for _, args := range [][]string{{"handoff", "record", "--json", input("a")}, {"handoff", "retract", "a", "--revision", "1"}, {"write", "f"}} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Close()
		var errs strings.Builder
		cmd := landfast(t, dir, args...)
		cmd.Stdout, cmd.Stderr = w, &errs
		if err := cmd.Run(); err != nil || !strings.Contains(errs.String(), "the change was made") {
			t.Errorf("%v: %v: %s", args, err, errs.String())
		}
		_ = w.Close()
	}
}

// However the demo is ended, its folder goes.
func TestInterruptedDemoLeavesNothing(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, nil} {
		tmp := testenv.TempDir(t)
		cmd := landfast(t, tmp, "demo")
		cmd.Env = append(cmd.Env, "TMPDIR="+tmp)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 1)); err != nil { // it is at work
			t.Fatal(err)
		}
		if signal == nil {
			_ = out.Close() // the reader goes away
		} else if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if got := cmd.ProcessState.ExitCode(); got != 130 {
			t.Errorf("%v: exit %d, want 130", signal, got)
		}
		if es, err := os.ReadDir(tmp); err != nil || len(es) > 0 {
			t.Errorf("%v: left %v, %v", signal, es, err)
		}
	}
}

// An interrupted write takes its staged file away and leaves the old content.
func TestInterruptedWriteLeavesNothing(t *testing.T) {
	dir := testenv.TempDir(t)
	if r := runs(t, landfast(t, dir, "write", "f"), strings.NewReader("old")); r.status != 0 {
		t.Fatal(r.errs)
	}
	cmd := landfast(t, dir, "write", "f")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write([]byte("half of the new")); err != nil {
		t.Fatal(err)
	}
	for len(leftovers(t, dir)) == 0 { // until it has staged; the test's own time limit bounds this
		if cmd.ProcessState != nil {
			break
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != 130 {
		t.Errorf("exit %d, want 130", got)
	}
	if left := leftovers(t, dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "f")); err != nil || string(got) != "old" {
		t.Errorf("%q, %v", got, err)
	}
}

// The lock file may be a link, a directory, a FIFO: writes are refused without
// waiting, reads go on, doctor says so.
func TestUnsafeLockFileIsNamed(t *testing.T) {
	for name, plant := range map[string]func(path string) error{
		"link":      func(p string) error { return os.Symlink("elsewhere", p) },
		"directory": func(p string) error { return os.Mkdir(p, 0o700) },
		"fifo":      func(p string) error { return syscall.Mkfifo(p, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := testenv.TempDir(t)
			must(t, dir, "handoff", "record", "--json", input("a"))
			lock := filepath.Join(dir, ".landfast/ledger.lock")
			if err := os.Remove(lock); err != nil {
				t.Fatal(err)
			}
			if err := plant(lock); err != nil {
				t.Fatal(err)
			}
			if r := runs(t, landfast(t, dir, "handoff", "record", "--json", input("b")), nil); r.status != 5 || !strings.Contains(r.errs, "ledger.lock") {
				t.Errorf("record: exit %d: %s", r.status, r.errs)
			}
			must(t, dir, "handoff", "resume")
			if r := runs(t, landfast(t, dir, "handoff", "doctor", "--json"), nil); r.status != 1 || !strings.Contains(r.out, "lock-unsafe") {
				t.Errorf("doctor: exit %d: %s", r.status, r.out)
			}
		})
	}
}

// Somebody removes the lock file again and again while processes record: every
// acknowledged record is there at the end.
func TestRecordsSurviveAVanishingLockFile(t *testing.T) {
	const writers, each = 4, 30
	dir := testenv.TempDir(t)
	must(t, dir, "handoff", "record", "--json", input("first"))
	stop := make(chan struct{})
	var cleaner sync.WaitGroup
	cleaner.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				_ = os.Remove(filepath.Join(dir, ".landfast/ledger.lock"))
			}
		}
	})
	recordAtOnce(t, dir, writers, each)
	close(stop)
	cleaner.Wait()
	out := must(t, dir, "handoff", "resume", "--json")
	for w := range writers {
		for i := range each {
			if id := fmt.Sprintf(`"w%d-%d"`, w, i); !strings.Contains(out, id) {
				t.Errorf("acknowledged record %s is lost", id)
			}
		}
	}
	must(t, dir, "handoff", "doctor")
}

// A closed standard input reads like an empty one; it must not empty the target.
func TestClosedInputDoesNotEmptyTheFile(t *testing.T) {
	dir := testenv.TempDir(t)
	if r := runs(t, landfast(t, dir, "write", "f"), strings.NewReader("old")); r.status != 0 {
		t.Fatal(r.errs)
	}
	inner := landfast(t, dir, "write", "f")
	for redirect, want := range map[string]string{"<&-": "old", "</dev/null": ""} {
		cmd := exec.Command("sh", "-c", `"$0" write f `+redirect, inner.Path)
		cmd.Dir, cmd.Env = dir, inner.Env
		r := runs(t, cmd, nil)
		got, err := os.ReadFile(filepath.Join(dir, "f"))
		if err != nil {
			t.Fatal(err)
		}
		if redirect == "<&-" && (r.status != 2 || string(got) != want) {
			t.Errorf("%s: exit %d, %q, %s", redirect, r.status, got, r.errs)
		}
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		if redirect == "</dev/null" && (r.status != 0 || string(got) != want) {
			t.Errorf("%s: exit %d, %q, %s", redirect, r.status, got, r.errs)
		}
	}
}

func TestArgumentThatIsNotUTF8IsRefusedAndNotMended(t *testing.T) {
	dir := testenv.TempDir(t)
	r := runs(t, landfast(t, dir, "handoff", "record", "--json", "{\"id\":\"a\",\"kind\":\"goal\",\"text\":\"a\xffb\",\"source\":\"s\"}"), nil)
	if r.status != 2 || !strings.Contains(r.errs, "not valid UTF-8") {
		t.Errorf("exit %d: %s", r.status, r.errs)
	}
	if _, err := os.Stat(filepath.Join(dir, ".landfast")); err == nil {
		t.Error("something was stored")
	}
}

func TestErrorsDontSteerTheTerminal(t *testing.T) {
	r := runs(t, landfast(t, testenv.TempDir(t), "--project", "no\x1b[31m\nwhere", "handoff", "resume"), nil)
	if r.status != 2 || strings.ContainsAny(strings.TrimSuffix(r.errs, "\n"), "\x1b\n") {
		t.Errorf("exit %d: %q", r.status, r.errs)
	}
}

func TestDemoThatNobodyCanReadFails(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	cmd := landfast(t, testenv.TempDir(t), "demo")
	cmd.Stdout = full
	if err := cmd.Run(); err == nil {
		t.Error("it succeeded")
	}
}

// A folder that is only closed to this user must not be advised away.
func TestClosedStateDirectoryIsNotAdvisedAway(t *testing.T) {
	dir := readable(t)
	must(t, dir, "handoff", "record", "--json", input("a"))
	if err := os.Chmod(filepath.Join(dir, ".landfast"), 0); err != nil {
		t.Fatal(err)
	}
	r := asNobody(t, dir, "handoff", "doctor")
	if r.status != 1 || strings.Contains(r.out, "move it away") || !strings.Contains(r.out, "leave it where it is") {
		t.Errorf("exit %d: %s", r.status, r.out)
	}
	if r := asNobody(t, dir, "handoff", "resume"); strings.Contains(r.errs, "still read it") {
		t.Errorf("%s", r.errs)
	}
}

// --new over an existing file is refused at once: what produces the input may
// take an hour.
func TestNewOverAnExistingFileDoesNotWaitForTheInput(t *testing.T) {
	dir := testenv.TempDir(t)
	if r := runs(t, landfast(t, dir, "write", "f"), strings.NewReader("old")); r.status != 0 {
		t.Fatal(r.errs)
	}
	cmd := landfast(t, dir, "write", "f", "--new")
	in, err := cmd.StdinPipe() // never written to, closed only at the end
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		_ = cmd.Process.Kill()
		t.Fatal("it waits for its input")
	}
	if got := cmd.ProcessState.ExitCode(); got != 3 {
		t.Errorf("exit %d, want 3", got)
	}
}
