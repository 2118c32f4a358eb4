package gitinfo

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// A repository that can't be looked into is not skipped for the one around it:
// records would be filed under a branch that is not theirs.
func TestAGitDirThatCannotBeSearchedIsUnreadable(t *testing.T) {
	outer := repo(t)
	inner := filepath.Join(outer, "inner")
	if err := os.Mkdir(inner, 0o777); err != nil {
		t.Fatal(err)
	}
	git(t, inner, "init", "-q")
	closed := filepath.Join(inner, ".git")
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(closed, 0o700) })
	read := make(chan Info)
	go func() {
		// Root ignores modes. The thread whose filesystem identity is given up
		// ends with this goroutine, which stays locked to it.
		if os.Geteuid() == 0 {
			runtime.LockOSThread()
			for _, d := range []string{outer, filepath.Dir(outer)} { // the latter is the test's own, 0700
				if err := os.Chmod(d, 0o755); err != nil {
					t.Error(err)
				}
			}
			if err := syscall.Setfsuid(65534); err != nil {
				t.Error(err)
			}
		}
		read <- Read(context.Background(), inner)
	}()
	if i := <-read; i.State != Unreadable || i.TopLevel != inner || i.Branch != nil || i.Reason == "" {
		t.Errorf("%+v", i)
	}
}
