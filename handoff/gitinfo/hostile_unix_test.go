//go:build unix

package gitinfo

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/landfast/landfast/internal/testenv"
)

// Opening a FIFO waits until somebody writes: it must never be opened.
func TestFIFOsAreNotWaitedFor(t *testing.T) {
	for _, name := range []string{"HEAD", "commondir", "packed-refs", "refs/heads/main"} {
		t.Run(name, func(t *testing.T) {
			dir := repo(t)
			git(t, dir, "pack-refs", "--all")
			path := filepath.Join(dir, ".git", filepath.FromSlash(name))
			if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			if err := syscall.Mkfifo(path, 0o666); err != nil {
				t.Fatal(err)
			}
			if i := soon(t, dir); i.State != Unreadable || i.Branch != nil || i.Head != nil || !strings.Contains(i.Reason, errFormat.Error()) {
				t.Errorf("%+v", i)
			}
		})
	}
	t.Run(".git", func(t *testing.T) {
		dir := testenv.TempDir(t)
		if err := syscall.Mkfifo(filepath.Join(dir, ".git"), 0o666); err != nil {
			t.Fatal(err)
		}
		if i := soon(t, dir); i.State != Unreadable {
			t.Errorf("%+v", i)
		}
	})
}

// elsewhere is a repository whose refs are kept in another format.
func elsewhere(t *testing.T) string {
	t.Helper()
	dir := repo(t)
	writeFile(t, filepath.Join(dir, ".git", "HEAD"), "ref: refs/heads/.invalid\n")
	return dir
}

func TestGitIsAskedExactlyTwoQuestions(t *testing.T) {
	dir := elsewhere(t)
	calls := fakeGit(t)
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_TRACE"} {
		t.Setenv(name, "1")
	}
	if i := Read(context.Background(), dir); i.State != OK {
		t.Fatalf("%+v", i)
	}
	options := "-c core.fsmonitor=false -c core.hooksPath=" + os.DevNull + " "
	want := []string{
		options + "symbolic-ref -q --short HEAD", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0",
		options + "rev-parse -q --verify HEAD^{commit}", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0",
	}
	got := strings.Split(strings.TrimSpace(calls()), "\n")
	slices.Sort(got[1:3])
	slices.Sort(got[4:6])
	if !slices.Equal(got, want) {
		t.Errorf("git got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// script puts a git first in PATH that does what the lines say.
func script(t *testing.T, lines string) {
	t.Helper()
	dir := testenv.TempDir(t)
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte("#!/bin/sh\n"+lines+"\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func TestWhatGitAnswersIsNotTrusted(t *testing.T) {
	id := strings.Repeat("a", 64)
	for name, row := range map[string]struct {
		symbolic, revParse string
		state              State
	}{
		"both":              {"echo a/b", "echo " + id, OK},
		"unborn":            {"echo trunk", "exit 1", Unborn},
		"detached":          {"exit 1", "echo " + id, Detached},
		"neither":           {"exit 128", "exit 128", Unreadable},
		"nothing":           {":", ":", Unreadable},
		"an escape":         {`printf 'a\033[31m'`, "exit 1", Unreadable},
		"two lines":         {`printf 'a\nb\n'`, "exit 1", Unreadable},
		"no commit id":      {"exit 1", "echo main", Unreadable},
		"an escape, a head": {`printf 'a\033[31m'`, "echo " + id, Detached},
	} {
		t.Run(name, func(t *testing.T) {
			dir := elsewhere(t)
			script(t, "case \"$*\" in *symbolic-ref*) "+row.symbolic+";; *) "+row.revParse+";; esac")
			i := Read(context.Background(), dir)
			has := [2]bool{i.Branch != nil, i.Head != nil}
			want := map[State][2]bool{OK: {true, true}, Unborn: {true, false}, Detached: {false, true}}[row.state]
			if i.State != row.state || has != want || (i.Reason != "") != (row.state == Unreadable) {
				t.Errorf("%+v, want %s", i, row.state)
			}
		})
	}
}

func TestASlowGitIsGivenUpOn(t *testing.T) {
	dir := elsewhere(t)
	script(t, "exec sleep 60")
	start := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	i := Read(ctx, dir)
	if took := time.Since(start); took > 2*askLimit+3*time.Second {
		t.Errorf("took %v", took)
	}
	if i.State != Unreadable || i.Reason == "" {
		t.Errorf("%+v", i)
	}
}

// A PATH that begins with the current directory would run the repository's
// own git.
func TestGitInTheRepositoryIsNotRun(t *testing.T) {
	dir := elsewhere(t)
	marker := filepath.Join(testenv.TempDir(t), "ran")
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte("#!/bin/sh\ntouch "+marker+"\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, path := range []string{".", "", ":"} {
		t.Setenv("PATH", path)
		if i := Read(context.Background(), dir); i.State != Unreadable || i.Reason == "" {
			t.Errorf("PATH %q: %+v", path, i)
		}
	}
	if _, err := os.Lstat(marker); err == nil {
		t.Error("the repository's own git ran")
	}
}

// What another user set up is described where files tell, and nothing is
// started in it where they don't.
func TestGitIsNotAskedInAnotherUsersRepository(t *testing.T) {
	testenv.NeedRoot(t)
	dir := elsewhere(t)
	if err := os.Chown(filepath.Join(dir, ".git"), 65534, 65534); err != nil {
		t.Fatal(err)
	}
	calls := fakeGit(t)
	i := Read(context.Background(), dir)
	if i.State != Unreadable || !strings.Contains(i.Reason, "another user") || i.Branch != nil {
		t.Errorf("%+v", i)
	}
	if c := calls(); c != "" {
		t.Errorf("git was started: %s", c)
	}
}

func TestOwnershipOfTheWorkTreeCountsToo(t *testing.T) {
	testenv.NeedRoot(t)
	for name, damage := range map[string]func(dir string){
		"detached": func(dir string) { git(t, dir, "checkout", "-q", "--detach") },
		"unborn":   func(dir string) { git(t, dir, "update-ref", "-d", "refs/heads/main") },
		"ok":       func(string) {},
	} {
		dir := repo(t)
		damage(dir)
		before := Read(context.Background(), dir)
		if string(before.State) != name {
			t.Fatalf("%s: %+v", name, before)
		}
		if err := os.Chown(dir, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		i := Read(context.Background(), dir)
		if i.State != Foreign || i.Reason == "" || deref(i.Branch) != deref(before.Branch) || deref(i.Head) != deref(before.Head) {
			t.Errorf("%s: %+v", name, i)
		}
	}
}

// The hostile configuration of a repository stays without effect also where
// the real git has to be asked.
func TestTheRealGitRunsNothingThatIsConfigured(t *testing.T) {
	dir := elsewhere(t)
	marker := filepath.Join(testenv.TempDir(t), "ran")
	hook := filepath.Join(dir, "hook.sh")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\ntouch "+marker+"\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, hookName := range []string{"post-checkout", "reference-transaction", "fsmonitor-watchman"} {
		if err := os.Symlink(hook, filepath.Join(dir, ".git", "hooks", hookName)); err != nil {
			t.Fatal(err)
		}
	}
	config := filepath.Join(dir, ".git", "config")
	writeFile(t, filepath.Join(dir, "more"), "[core]\n\tfsmonitor = "+hook+"\n\tpager = "+hook+"\n[alias]\n\tsymbolic-ref = !"+hook+"\n\trev-parse = !"+hook+"\n")
	writeFile(t, config, readFile(t, config)+"[include]\n\tpath = ../more\n[filter \"x\"]\n\tclean = "+hook+"\n[core]\n\teditor = "+hook+"\n\tsshCommand = "+hook+"\n")
	writeFile(t, filepath.Join(dir, ".gitattributes"), "* filter=x\n")
	i := Read(context.Background(), dir)
	if i.State == OK { // git 2.39 calls the mark an unborn branch; newer ones refuse a reftable that isn't there
		t.Errorf("%+v", i)
	}
	if _, err := os.Lstat(marker); err == nil {
		t.Error("a configured program ran")
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
