package procid

import (
	"bufio"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

const childEnv = "LANDFAST_PROCID_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		os.Stdout.WriteString(Self().Tag() + "\n")
		bufio.NewReader(os.Stdin).ReadString('\n') // until the parent lets go
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestSelfIsLive(t *testing.T) {
	id := Self()
	if v, why := Judge(id); v != Live {
		t.Fatalf("Judge(Self()) = %v, %q; Self() = %+v", v, why, id)
	}
}

func TestJudgeSaysDeadOnlyWhereItIsCertain(t *testing.T) {
	me := Self()
	other := strings.Repeat("f0", 8)
	tests := []struct {
		name string
		edit func(*ID)
		want Verdict
	}{
		{"no pid", func(id *ID) { id.PID = 0 }, Unknown},
		{"negative pid would be a group", func(id *ID) { id.PID = -id.PID }, Unknown},
		{"other machine and boot", func(id *ID) { id.Machine, id.Boot = other, other }, Unknown},
		{"machine not recorded, other boot", func(id *ID) { id.Machine, id.Boot = "", other }, Unknown},
		{"other pid namespace", func(id *ID) { id.PIDNS++ }, Unknown},
		{"start not recorded", func(id *ID) { id.Start = 0 }, Unknown},
		{"pid given to another", func(id *ID) { id.Start++ }, Dead},
		{"no such pid", func(id *ID) { id.PID = 1<<31 - 4 }, Dead},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			id := me
			tt.edit(&id)
			if v, why := Judge(id); v != tt.want || why == "" {
				t.Errorf("Judge = %v, %q; want %v", v, why, tt.want)
			}
		})
	}
}

func TestOtherBootOfTheSameMachineIsDead(t *testing.T) {
	me := Self()
	me.Boot, me.Machine = strings.Repeat("b0", 8), strings.Repeat("0a", 8)
	id := me
	id.Boot = strings.Repeat("b1", 8)
	if v, why := judge(me, id); v != Dead {
		t.Errorf("recorded in full: %v, %q; want dead", v, why)
	}
	short, ok := ParseTag(id.Tag())
	if !ok {
		t.Fatal("no tag: ", id.Tag())
	}
	if v, why := judge(me, short); v != Dead {
		t.Errorf("recorded as a tag: %v, %q; want dead", v, why)
	}
	id.Boot = ""
	if v, why := judge(me, id); v != Unknown {
		t.Errorf("boot not recorded: %v, %q; want unknown", v, why)
	}
}

func TestTagOfAChildFollowsItsLife(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	id, ok := ParseTag(strings.TrimSpace(line))
	if !ok || id.PID != cmd.Process.Pid {
		t.Fatalf("ParseTag(%q) = %+v, %v; child is %d", line, id, ok, cmd.Process.Pid)
	}
	if v, why := Judge(id); v != Live {
		t.Errorf("running child: %v, %q", v, why)
	}
	cmd.Process.Kill()
	in.Close()
	cmd.Wait()
	if v, why := Judge(id); v != Dead {
		t.Errorf("ended child: %v, %q", v, why)
	}
}

func TestTagIsShortAndPlain(t *testing.T) {
	plain := regexp.MustCompile(`^[0-9a-z-]{1,48}$`)
	long := strings.Repeat("ab", 8)
	for _, id := range []ID{Self(), {PID: 1}, {PID: 1<<31 - 1, Start: 1<<64 - 1, PIDNS: 1<<64 - 1, Boot: long, Machine: long}} {
		tag := id.Tag()
		if !plain.MatchString(tag) {
			t.Errorf("tag %q has %d bytes", tag, len(tag))
		}
		back, ok := ParseTag(tag)
		if !ok || back.PID != id.PID || back.Start != id.Start || back.Tag() != tag {
			t.Errorf("ParseTag(%q) = %+v, %v", tag, back, ok)
		}
	}
}

func TestParseTagRefusesWhatTagNeverWrites(t *testing.T) {
	good := ID{PID: 77, Start: 5, PIDNS: 3, Boot: "0123456789abcdef", Machine: "fedcba9876543210"}.Tag()
	for _, s := range []string{
		"", "-", "----", good + "-1", good[1:], strings.ToUpper(good), good + "0000000000000000000000000",
		strings.Replace(good, "-3-", "-03-", 1), strings.Replace(good, "-3-", "-+3-", 1), strings.Replace(good, "-3-", "--", 1),
		"00000000-00000000-0-0-0",
	} {
		if id, ok := ParseTag(s); ok {
			t.Errorf("ParseTag(%q) = %+v", s, id)
		}
	}
}

func FuzzParseTag(f *testing.F) {
	f.Add(Self().Tag())
	f.Add("00000000-00000000-0-1-0")
	f.Add("a-b-c-d-e")
	f.Fuzz(func(t *testing.T, s string) {
		if id, ok := ParseTag(s); ok && (id.Tag() != s || id.PID <= 0) {
			t.Errorf("ParseTag(%q) = %+v, which tags as %q", s, id, id.Tag())
		}
	})
}
