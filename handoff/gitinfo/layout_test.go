package gitinfo

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/landfast/landfast/internal/testenv"
)

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// soon fails the test if Read waits for something.
func soon(t *testing.T, dir string) Info {
	t.Helper()
	done := make(chan Info, 1)
	go func() { done <- Read(context.Background(), dir) }()
	select {
	case i := <-done:
		return i
	case <-time.After(20 * time.Second):
		t.Fatal("still waiting after 20 seconds")
		return Info{}
	}
}

func TestRefsThatArePackedOrNested(t *testing.T) {
	for name, make := range map[string]func(t *testing.T) (dir string, state State, branch string){
		"a packed, a/b once loose in its place": func(t *testing.T) (string, State, string) {
			dir := repo(t)
			git(t, dir, "checkout", "-q", "-b", "a")
			git(t, dir, "pack-refs", "--all")
			// What an interrupted deletion of a/b leaves: the directory.
			if err := os.MkdirAll(filepath.Join(dir, ".git", "refs", "heads", "a"), 0o777); err != nil {
				t.Fatal(err)
			}
			return dir, OK, "a"
		},
		"a/b below a directory": func(t *testing.T) (string, State, string) {
			dir := repo(t)
			git(t, dir, "checkout", "-q", "-b", "a/b/c")
			commit(t, dir)
			return dir, OK, "a/b/c"
		},
		"many packed, the name of one the beginning of another": func(t *testing.T) (string, State, string) {
			dir := repo(t)
			git(t, dir, "branch", "feature")
			commit(t, dir)
			git(t, dir, "checkout", "-q", "-b", "feature-2")
			commit(t, dir)
			git(t, dir, "pack-refs", "--all")
			git(t, dir, "checkout", "-q", "feature")
			return dir, OK, "feature"
		},
		"the branch was deleted under HEAD": func(t *testing.T) (string, State, string) {
			dir := repo(t)
			git(t, dir, "pack-refs", "--all")
			git(t, dir, "update-ref", "-d", "refs/heads/main")
			return dir, Unborn, "main"
		},
		"a branch that is a symbolic ref": func(t *testing.T) (string, State, string) {
			dir := repo(t)
			git(t, dir, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
			writeFile(t, filepath.Join(dir, ".git", "HEAD"), "ref: refs/heads/alias\n")
			return dir, OK, "alias"
		},
		"sha256, packed and detached": func(t *testing.T) (string, State, string) {
			dir := repo(t, "--object-format=sha256")
			git(t, dir, "pack-refs", "--all")
			git(t, dir, "checkout", "-q", "--detach")
			return dir, Detached, ""
		},
		"sha256, packed": func(t *testing.T) (string, State, string) {
			dir := repo(t, "--object-format=sha256")
			git(t, dir, "pack-refs", "--all")
			return dir, OK, "main"
		},
		"a branch of another script": func(t *testing.T) (string, State, string) {
			if runtime.GOOS == "windows" {
				testenv.NotHere(t, "git writes the name in the system's code page")
			}
			dir := repo(t)
			git(t, dir, "checkout", "-q", "-b", "größe/日本")
			return dir, OK, "größe/日本"
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, state, branch := make(t)
			wants(t, dir, state, branch)
		})
	}
}

func TestSeparateGitDirAndWorkTrees(t *testing.T) {
	t.Run("separate git dir", func(t *testing.T) {
		dir, apart := testenv.TempDir(t), filepath.Join(testenv.TempDir(t), "apart")
		git(t, dir, "init", "-q", "-b", "main", "--separate-git-dir", apart)
		commit(t, dir)
		if i := wants(t, dir, OK, "main"); i.TopLevel != dir || !sameFile(t, i.GitDir, apart) {
			t.Errorf("%+v", i)
		}
	})
	t.Run("work tree with relative links", func(t *testing.T) {
		// What git 2.48 writes with --relative-paths.
		parent := testenv.TempDir(t)
		dir, wt := filepath.Join(parent, "dir"), filepath.Join(parent, "wt")
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		git(t, dir, "init", "-q", "-b", "main")
		commit(t, dir)
		git(t, dir, "worktree", "add", "-q", "-b", "side", wt)
		writeFile(t, filepath.Join(wt, ".git"), "gitdir: ../dir/.git/worktrees/wt\n")
		commit(t, wt)
		i := wants(t, wt, OK, "side")
		if i.CommonDir != filepath.Join(dir, ".git") || i.GitDir != filepath.Join(dir, ".git", "worktrees", "wt") {
			t.Errorf("%+v", i)
		}
		git(t, dir, "pack-refs", "--all")
		wants(t, wt, OK, "side")
		wants(t, dir, OK, "main")
	})
	t.Run("work tree that is detached", func(t *testing.T) {
		dir, wt := repo(t), filepath.Join(testenv.TempDir(t), "wt")
		git(t, dir, "worktree", "add", "-q", "--detach", wt)
		wants(t, wt, Detached, "")
		wants(t, dir, OK, "main")
	})
	t.Run("work tree of a repository that is gone", func(t *testing.T) {
		dir, wt := repo(t), filepath.Join(testenv.TempDir(t), "wt")
		git(t, dir, "worktree", "add", "-q", "-b", "side", wt)
		if err := os.Rename(dir, dir+"-moved"); err != nil {
			t.Fatal(err)
		}
		if i := Read(context.Background(), wt); i.State != Unreadable || i.Reason == "" || i.Branch != nil {
			t.Errorf("%+v", i)
		}
		if err := os.Rename(dir+"-moved", dir); err != nil { // for the cleanup
			t.Fatal(err)
		}
	})
}

func sameFile(t *testing.T, a, b string) bool {
	t.Helper()
	x, err := os.Stat(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := os.Stat(b)
	if err != nil {
		t.Fatal(err)
	}
	return os.SameFile(x, y)
}

func TestTopLevelIsTheNearestRepository(t *testing.T) {
	outer := repo(t)
	inner := filepath.Join(outer, "a", "inner")
	deep := filepath.Join(inner, "b", "c")
	if err := os.MkdirAll(deep, 0o777); err != nil {
		t.Fatal(err)
	}
	if got := TopLevel(deep); got != outer {
		t.Errorf("got %q, want the outer %q", got, outer)
	}
	git(t, inner, "init", "-q", "-b", "main")
	if got := TopLevel(deep); got != inner {
		t.Errorf("got %q, want the inner %q", got, inner)
	}
	// A stray directory of that name is passed over.
	if err := os.Mkdir(filepath.Join(inner, "b", ".git"), 0o777); err != nil {
		t.Fatal(err)
	}
	if got := TopLevel(deep); got != inner {
		t.Errorf("got %q, want the inner %q", got, inner)
	}
	t.Chdir(deep)
	if got := TopLevel("."); got == "" || !sameFile(t, got, inner) {
		t.Errorf("from the current directory: %q, want %q", got, inner)
	}
}

func TestSymbolicLinkHEADStaysInTheRepository(t *testing.T) {
	dir := repo(t)
	secret := filepath.Join(dir, "secret")
	writeFile(t, secret, strings.Repeat("b", 40)+"\n")
	head := filepath.Join(dir, ".git", "HEAD")
	for _, target := range []string{"refs/heads/../../../secret", secret, "refs/heads/", "refs/heads/a\nb", "../secret"} {
		if err := os.Remove(head); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, head); err != nil {
			testenv.Skip(t, testenv.Symlink, err.Error())
		}
		if i := Read(context.Background(), dir); i.State != Unreadable || i.Head != nil || i.Branch != nil || i.Reason == "" {
			t.Errorf("%q: %+v", target, i)
		}
	}
}
