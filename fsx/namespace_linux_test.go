package fsx

import (
	"bufio"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/landfast/landfast/internal/testenv"
)

// apart gives a command a pid namespace of its own: it is process 1 there.
func apart(cmd *exec.Cmd) *exec.Cmd {
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	return cmd
}

// start starts the command or ends the test where namespaces can't be had.
func start(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EINVAL) {
		testenv.Skip(t, testenv.Root, "no pid namespace: "+err.Error())
	} else if err != nil {
		t.Fatal(err)
	}
}

// odysseus-dev/odysseus#5596: two containers write into one directory, and
// both writers are process 1.
func TestWritersOfTwoPidNamespacesDontCollide(t *testing.T) {
	testenv.NeedRoot(t)
	dir := t.TempDir()
	var outs [2]strings.Builder
	var wg sync.WaitGroup
	for i := range outs {
		cmd := apart(role(t, "replace", dir, "FSX_TEST_COUNT=500"))
		cmd.Stderr = &outs[i]
		start(t, cmd)
		wg.Go(func() {
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v: %s", err, outs[i].String())
			}
		})
	}
	wg.Wait()
	got := contentOf(t, filepath.Join(dir, "f"))
	first, _, _ := strings.Cut(got, " ")
	if got != strings.Repeat(first+" ", 500) || !strings.HasPrefix(first, "1-") {
		t.Errorf("the content is a mixture, or not of process 1: %.20q", got)
	}
	noLeftovers(t, dir)
}

// R1: whether a process of another pid namespace lives can't be told by its
// number; its file stays, also when it is dead.
func TestSweepKeepsTheFilesOfAnotherPidNamespace(t *testing.T) {
	testenv.NeedRoot(t)
	dir := t.TempDir()
	cmd := apart(role(t, "stage", dir))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	start(t, cmd)
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatal("the writer did not stage")
	}
	_, d := openDir(t, dir)
	s, err := d.Sweep(SweepOptions{})
	if err != nil || len(s.Removed) != 0 || len(s.Kept) != 1 {
		t.Errorf("of a live writer: removed %v, kept %v, %v", s.Removed, s.Kept, err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if s, err = d.Sweep(SweepOptions{}); err != nil || len(s.Removed) != 0 || len(s.Kept) != 1 {
		t.Errorf("of one that can't be judged: removed %v, kept %v, %v", s.Removed, s.Kept, err)
	}
	// The caller's word that no writer can be alive is what it takes.
	s, err = d.Sweep(SweepOptions{OwnersGone: true})
	if err != nil || len(s.Removed) != 1 {
		t.Errorf("of a dead writer: removed %v, kept %v, %v", s.Removed, s.Kept, err)
	}
}
