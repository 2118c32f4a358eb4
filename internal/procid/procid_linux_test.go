package procid

import (
	"os"
	"os/exec"
	"testing"

	"github.com/landfast/landfast/internal/testenv"
)

func TestParseStatSurvivesHostileCommandNames(t *testing.T) {
	tail := " 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21"
	for name, want := range map[string]bool{
		"12 (sh) S" + tail:              true,
		"12 (a) R 1 2) 3 (b)) S" + tail: true,
		"12 (sh) S 1 2":                 false,
		"":                              false,
		"12 sh S" + tail:                false,
	} {
		state, start, ok := parseStat([]byte(name))
		if ok != want || ok && (state != 'S' || start != 4711) {
			t.Errorf("parseStat(%q) = %c, %d, %v", name, state, start, ok)
		}
	}
}

func TestZombieIsDead(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	id := Self()
	id.PID, id.Start = cmd.Process.Pid, lookup(cmd.Process.Pid).start
	if v, why := Judge(id); v != Live {
		t.Errorf("running: %v, %q", v, why)
	}
	cmd.Process.Kill()
	// Not waited for yet: the process is a zombie, once the signal arrived.
	var v Verdict
	for range 1_000_000 {
		if v, _ = Judge(id); v == Dead {
			break
		}
	}
	if v != Dead {
		t.Error("a zombie is judged", v)
	}
	cmd.Wait()
}

// uutils/shadow#28: EPERM from kill was read as "dead".
func TestProcessOfAnotherUserIsComparedNotDeclaredDead(t *testing.T) {
	id := Self()
	id.PID = 1
	p := lookup(1)
	if p.state != running {
		testenv.NotHere(t, "process 1 is hidden")
	}
	id.Start = p.start
	if v, why := Judge(id); v != Live {
		t.Errorf("process 1 as uid %d: %v, %q", os.Getuid(), v, why)
	}
}
