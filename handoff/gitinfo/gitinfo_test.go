package gitinfo

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/landfast/landfast/internal/testenv"
)

// git runs the real git in dir, without the user's configuration.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command(testenv.Need(t, testenv.Git, "git"), append([]string{"-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// repo is a repository with one commit on main.
func repo(t *testing.T, initArgs ...string) string {
	t.Helper()
	dir := testenv.TempDir(t)
	git(t, dir, append([]string{"init", "-q", "-b", "main"}, initArgs...)...)
	commit(t, dir)
	return dir
}

func commit(t *testing.T, dir string) {
	t.Helper()
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "x")
}

// wants compares with what git itself says.
func wants(t *testing.T, dir string, state State, branch string) Info {
	t.Helper()
	i := Read(context.Background(), dir)
	if i.State != state {
		t.Errorf("state %s (%s), want %s", i.State, i.Reason, state)
	}
	if got := deref(i.Branch); got != branch {
		t.Errorf("branch %q, want %q", got, branch)
	}
	head := ""
	if state == OK || state == Detached {
		head = git(t, dir, "rev-parse", "HEAD")
	}
	if got := deref(i.Head); got != head {
		t.Errorf("head %q, want %q", got, head)
	}
	return i
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func TestLayoutsThatGitMakes(t *testing.T) {
	for name, make := range map[string]func(t *testing.T) (dir string, state State, branch string){
		"plain": func(t *testing.T) (string, State, string) { return repo(t), OK, "main" },
		"subdirectory": func(t *testing.T) (string, State, string) {
			dir := filepath.Join(repo(t), "a", "b")
			if err := os.MkdirAll(dir, 0o777); err != nil {
				t.Fatal(err)
			}
			return dir, OK, "main"
		},
		"unborn": func(t *testing.T) (string, State, string) {
			dir := testenv.TempDir(t)
			git(t, dir, "init", "-q", "-b", "trunk")
			return dir, Unborn, "trunk"
		},
		"detached": func(t *testing.T) (string, State, string) {
			dir := repo(t)
			git(t, dir, "checkout", "-q", "--detach")
			return dir, Detached, ""
		},
		"branch called (detached)": func(t *testing.T) (string, State, string) {
			dir := repo(t)
			git(t, dir, "checkout", "-q", "-b", "(detached)")
			return dir, OK, "(detached)"
		},
		"packed": func(t *testing.T) (string, State, string) {
			dir := repo(t)
			git(t, dir, "tag", "-a", "v1", "-m", "v1")
			git(t, dir, "pack-refs", "--all")
			return dir, OK, "main"
		},
		"packed, then moved on": func(t *testing.T) (string, State, string) {
			dir := repo(t)
			git(t, dir, "pack-refs", "--all")
			commit(t, dir)
			return dir, OK, "main"
		},
		"packed a beside loose a-b": func(t *testing.T) (string, State, string) {
			dir := repo(t)
			git(t, dir, "checkout", "-q", "-b", "x/y")
			git(t, dir, "pack-refs", "--all")
			return dir, OK, "x/y"
		},
		"sha256": func(t *testing.T) (string, State, string) { return repo(t, "--object-format=sha256"), OK, "main" },
		"worktree": func(t *testing.T) (string, State, string) {
			dir := repo(t)
			wt := filepath.Join(testenv.TempDir(t), "wt")
			git(t, dir, "worktree", "add", "-q", "-b", "side", wt)
			commit(t, wt)
			return wt, OK, "side"
		},
		"submodule": func(t *testing.T) (string, State, string) {
			inner, outer := repo(t), repo(t)
			git(t, outer, "submodule", "add", "-q", inner, "sub")
			sub := filepath.Join(outer, "sub")
			git(t, sub, "checkout", "-q", "-b", "in-sub")
			return sub, OK, "in-sub"
		},
		"HEAD is a symbolic link": func(t *testing.T) (string, State, string) {
			dir := repo(t)
			head := filepath.Join(dir, ".git", "HEAD")
			if err := os.Remove(head); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("refs/heads/main", head); err != nil {
				testenv.Skip(t, testenv.Symlink, err.Error())
			}
			return dir, OK, "main"
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, state, branch := make(t)
			wants(t, dir, state, branch)
		})
	}
}

func TestNoRepository(t *testing.T) {
	dir := testenv.TempDir(t)
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o777); err != nil { // a stray one
		t.Fatal(err)
	}
	if i := Read(context.Background(), dir); i.State != None && i.TopLevel == dir {
		t.Errorf("%+v", i)
	}
}

func TestBrokenRepositoriesAreNamedAndNeverGuessed(t *testing.T) {
	write := func(path, content string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, path), []byte(content), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, damage := range map[string]func(t *testing.T, dir string){
		"HEAD empty":              write(".git/HEAD", ""),
		"HEAD garbage":            write(".git/HEAD", "hello\n"),
		"HEAD leads out":          write(".git/HEAD", "ref: refs/heads/../../../../etc/passwd\n"),
		"HEAD outside of heads":   write(".git/HEAD", "ref: refs/remotes/origin/main\n"),
		"HEAD huge":               write(".git/HEAD", "ref: refs/heads/"+strings.Repeat("x", 1<<20)),
		"HEAD with an escape":     write(".git/HEAD", "ref: refs/heads/a\x1b[31m\n"),
		"branch of 1025":          write(".git/HEAD", "ref: refs/heads/"+strings.Repeat("x", 1025)+"\n"),
		"ref garbage":             write(".git/refs/heads/main", "hello\n"),
		"ref of the wrong length": write(".git/refs/heads/main", strings.Repeat("a", 41)+"\n"),
		"commondir garbage":       write(".git/commondir", "\x00"),
		"HEAD is a directory": func(t *testing.T, dir string) {
			head := filepath.Join(dir, ".git", "HEAD")
			if err := os.Remove(head); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(head, 0o777); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := repo(t)
			damage(t, dir)
			i := Read(context.Background(), dir)
			if i.State != Unreadable && !(name == "commondir garbage" && i.State == Unborn) || i.Reason == "" && i.State == Unreadable || i.Head != nil {
				t.Errorf("%+v", i)
			}
			if strings.Contains(i.Reason, "hello") || strings.ContainsRune(i.Reason, '\x1b') {
				t.Errorf("the reason quotes the file: %q", i.Reason)
			}
		})
	}
	t.Run(".git file", func(t *testing.T) {
		dir := testenv.TempDir(t)
		for _, content := range []string{"", "gitdir:\n", "hello", "gitdir: nowhere\n"} {
			if err := os.WriteFile(filepath.Join(dir, ".git"), []byte(content), 0o666); err != nil {
				t.Fatal(err)
			}
			if i := Read(context.Background(), dir); i.State != Unreadable {
				t.Errorf("%q: %+v", content, i)
			}
		}
	})
}

// fakeGit puts a git first in PATH that notes every call.
func fakeGit(t *testing.T) (calls func() string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		testenv.NotHere(t, "the fake git is a shell script")
	}
	dir := testenv.TempDir(t)
	log := filepath.Join(dir, "log")
	script := "#!/bin/sh\necho \"$@\" >> " + log + "\nenv | grep '^GIT_' >> " + log + "\ncase \"$*\" in *symbolic-ref*) echo main;; *rev-parse*) echo " + strings.Repeat("a", 40) + ";; esac\n"
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return func() string {
		b, _ := os.ReadFile(log)
		return string(b)
	}
}

// H4: a repository whose configuration would run programs runs none, and not
// even git is started where files tell.
func TestHostileRepositoryRunsNothing(t *testing.T) {
	dir := repo(t)
	marker := filepath.Join(dir, "ran")
	hook := filepath.Join(dir, "hook.sh")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\ntouch "+marker+"\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, kv := range [][]string{{"core.fsmonitor", hook}, {"core.hooksPath", dir}, {"core.sshCommand", hook}, {"filter.x.clean", hook}, {"include.path", hook}} {
		git(t, dir, "config", kv[0], kv[1])
	}
	calls := fakeGit(t)
	if i := Read(context.Background(), dir); i.State != OK {
		t.Errorf("%+v", i)
	}
	if _, err := os.Lstat(marker); err == nil {
		t.Error("a configured program ran")
	}
	if c := calls(); c != "" {
		t.Errorf("git was started: %s", c)
	}
}

// Where files can't tell (reftable), git is asked for two things, cautiously.
func TestRefsInAnotherFormatAreAskedOfGit(t *testing.T) {
	dir := repo(t)
	if err := os.WriteFile(filepath.Join(dir, ".git", "HEAD"), []byte("ref: refs/heads/.invalid\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	calls := fakeGit(t)
	t.Setenv("GIT_DIR", "/elsewhere")
	i := Read(context.Background(), dir)
	if i.State != OK || deref(i.Branch) != "main" || deref(i.Head) != strings.Repeat("a", 40) {
		t.Errorf("%+v", i)
	}
	c := calls()
	for _, want := range []string{"core.fsmonitor=false", "core.hooksPath=" + os.DevNull, "symbolic-ref", "rev-parse"} {
		if !strings.Contains(c, want) {
			t.Errorf("git was asked without %s:\n%s", want, c)
		}
	}
	for _, never := range []string{"status", "diff", "GIT_DIR"} {
		if strings.Contains(c, never) {
			t.Errorf("git was given %s:\n%s", never, c)
		}
	}
	t.Setenv("PATH", testenv.TempDir(t))
	if i := Read(context.Background(), dir); i.State != Unreadable || !strings.Contains(i.Reason, "only git reads") {
		t.Errorf("without git: %+v", i)
	}
}

func TestGitDirOfTheEnvironmentIsIgnored(t *testing.T) {
	dir, other := repo(t), repo(t)
	git(t, other, "checkout", "-q", "-b", "other")
	t.Setenv("GIT_DIR", filepath.Join(other, ".git"))
	if i := Read(context.Background(), dir); deref(i.Branch) != "main" {
		t.Errorf("%+v", i)
	}
}

func TestRepositoryOfAnotherUserIsNamed(t *testing.T) {
	if runtime.GOOS == "windows" {
		testenv.NotHere(t, "ownership is not judged on Windows")
	}
	testenv.NeedRoot(t)
	dir := repo(t)
	if err := os.Chown(filepath.Join(dir, ".git"), 65534, 65534); err != nil {
		t.Fatal(err)
	}
	i := Read(context.Background(), dir)
	if i.State != Foreign || deref(i.Branch) != "main" || i.Reason == "" {
		t.Errorf("%+v", i)
	}
}

func FuzzParseRef(f *testing.F) {
	f.Add("ref: refs/heads/main\n")
	f.Add(strings.Repeat("a", 40) + "\n")
	f.Fuzz(func(t *testing.T, s string) {
		ref, id, err := parseRef(s)
		if err == nil && (ref == "") == (id == "") {
			t.Errorf("both or neither: %q %q", ref, id)
		}
		if strings.Contains(ref, "..") || strings.ContainsAny(ref, "\x00\\") {
			t.Errorf("a ref that leads out: %q", ref)
		}
		_, _ = findPacked(strings.NewReader(s), maxPackedRefs, "refs/heads/main")
	})
}
