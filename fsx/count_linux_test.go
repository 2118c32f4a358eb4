package fsx

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/landfast/landfast/internal/testenv"
)

// calls counts the system calls of a role, leaving out those of the Go runtime.
func calls(t *testing.T, name, count string) int {
	t.Helper()
	strace := testenv.Need(t, testenv.Strace, "strace")
	dir := t.TempDir()
	log := filepath.Join(t.TempDir(), "log")
	inner := role(t, name, dir, "FSX_TEST_COUNT="+count)
	cmd := exec.Command(strace, "-f", "-qq", "-o", log, inner.Path)
	cmd.Env = inner.Env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(data)) {
		if bytes.Contains([]byte(line), []byte("resumed>")) || runtimeCall.MatchString(line) {
			continue
		}
		n++
	}
	return n
}

var runtimeCall = regexp.MustCompile(`^\d+ +(futex|nanosleep|epoll_pwait|rt_sig\w+|sigaltstack|mmap|munmap|madvise|mprotect|sched_yield|getpid|gettid|tgkill|clone3?|prctl|set_robust_list|rseq|---|\+\+\+)`)

// The counts are the promise of speed: by hand, a durable replace over a held
// directory takes six calls; ours also looks at the target and keeps its mode.
//
// WriteOrdered goes through renameio over an os.Root; each os.File that is opened
// on the way costs five calls more than a bare descriptor, for the runtime's
// poller. Its limit only keeps that from growing.
func TestSystemCallsOfAWrite(t *testing.T) {
	for name, limit := range map[string]float64{"replace": 9, "publish-new": 12, "by-path": 20, "ordered": 25} {
		t.Run(name, func(t *testing.T) {
			per := float64(calls(t, name, "200")-calls(t, name, "100")) / 100
			t.Logf("%s: %.2f calls", name, per)
			if per > limit+0.5 || per < 5 {
				t.Errorf("%.2f calls, want at most %v", per, limit)
			}
		})
	}
}
