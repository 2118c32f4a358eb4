package fsx

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestPublishErrorsSayStepNameCauseAndWhatIsLeft(t *testing.T) {
	cause := errors.New("input/output error")
	for _, row := range []struct {
		err  PublishError
		want string
	}{
		{PublishError{Stage: StepSync, Path: "/d/f", Err: cause}, "sync /d/f: input/output error"},
		{PublishError{Stage: StepSyncDir, State: VisibleNotDurable, Path: "/d/f", Err: cause}, "sync dir /d/f: input/output error (new content: visible but not yet durable)"},
		{PublishError{Stage: StepRename, State: StateUnknown, Path: "/d/f", Tmp: "/d/t", Err: cause}, "rename /d/f: input/output error (new content: unknown) (left behind: /d/t)"},
	} {
		if got := row.err.Error(); got != row.want {
			t.Errorf("%q, want %q", got, row.want)
		}
		if !errors.Is(&row.err, cause) {
			t.Errorf("%q does not unwrap", row.want)
		}
	}
}

func TestGuaranteesAreReadAsTheyAreWritten(t *testing.T) {
	for g := None; g <= Durable; g++ {
		if got, err := ParseGuarantee(g.String()); err != nil || got != g {
			t.Errorf("%v is read as %v, %v", g, got, err)
		}
	}
	for _, s := range []string{"", "Durable", "durable ", "guarantee 9"} {
		if g, err := ParseGuarantee(s); err == nil || g != None || !strings.Contains(err.Error(), "best-effort-durable") {
			t.Errorf("%q: %v, %v", s, g, err)
		}
	}
}

func TestEveryValueHasAWordOfItsOwn(t *testing.T) {
	seen := map[string]bool{}
	word := func(s string) {
		if s == "" || seen[s] {
			t.Errorf("%q twice, or empty", s)
		}
		seen[s] = true
	}
	for s := StepOpen; s <= StepClose+1; s++ { // one beyond the list too
		word(s.String())
	}
	for c := Final; c <= ReadOnly+1; c++ {
		word(c.String())
	}
	for s := NotPublished; s <= StateUnknown+1; s++ {
		word(s.String())
	}
	for g := None; g <= Durable+1; g++ {
		word(g.String())
	}
}

func TestMergedReceiptsHoldTheWeakerGuaranteeAndShareNothing(t *testing.T) {
	degraded := func(why string) Degradation { return Degradation{Step: StepSync, Why: why} }
	base := Receipt{Guarantee: Durable, Attempts: 1, Waited: time.Second, Degraded: append(make([]Degradation, 0, 8), degraded("base"))}
	a := base.Merge(Receipt{Guarantee: Ordered, Attempts: 3, Waited: time.Second, Degraded: []Degradation{degraded("a")}})
	b := base.Merge(Receipt{Guarantee: Atomic, Degraded: []Degradation{degraded("b")}})
	if a.Guarantee != Ordered || a.Attempts != 3 || a.Waited != 2*time.Second || b.Guarantee != Atomic || b.Attempts != 1 {
		t.Errorf("%+v, %+v", a, b)
	}
	if len(a.Degraded) != 2 || a.Degraded[1].Why != "a" || len(b.Degraded) != 2 || b.Degraded[1].Why != "b" || len(base.Degraded) != 1 {
		t.Errorf("%v, %v, %v", a.Degraded, b.Degraded, base.Degraded)
	}
	if s := a.Degraded[1].String(); s != "sync: a" {
		t.Errorf("%q", s)
	}
	if s := (Degradation{StepSyncDir, errors.New("x"), "why"}).String(); s != "sync dir: why: x" {
		t.Errorf("%q", s)
	}
}
