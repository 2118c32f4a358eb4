package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// model is what the rules say in the plainest form: one entry for each record,
// in the order in which they first appeared.
type model struct {
	records   []*modelRecord
	tiers     map[string]string // id → tier
	versions  map[string]int    // branch → versions of branch records
	revision  uint64
	recovered string
}

type modelRecord struct {
	id, kind, tier, branch, text string
	revision                     uint64
	hidden                       bool
}

const noBranch = "<none>" // no branch name holds these

func modelBranch(b *string) string {
	if b == nil {
		return noBranch
	}
	return *b
}

func (m *model) find(id, branch string) *modelRecord {
	for _, r := range m.records {
		if r.id == id && (r.tier == TierRepo || r.branch == branch) {
			return r
		}
	}
	return nil
}

// expect is what recording must end with: "", a conflict's reason or a field.
func (m *model) expect(in RecordInput, branch string) string {
	tier, known := m.tiers[in.ID]
	if known && in.Tier != "" && in.Tier != tier {
		return "tier"
	}
	if in.ExpectedRecovery != m.recovered {
		return string(ReasonRecovered)
	}
	expected := uint64(0)
	if in.ExpectedRevision != nil {
		expected = *in.ExpectedRevision
	}
	r := m.find(in.ID, branch)
	switch {
	case r == nil && expected > 0:
		return string(ReasonMissing)
	case r != nil && r.revision != expected:
		return string(ReasonRevision)
	case r != nil && r.kind != in.Kind:
		return "kind"
	}
	return ""
}

func (m *model) record(in RecordInput, branch string) {
	tier := m.tiers[in.ID]
	if tier == "" {
		if tier = in.Tier; tier == "" {
			tier = map[string]string{KindNext: TierBranch}[in.Kind]
		}
		if tier == "" {
			tier = TierRepo
		}
		m.tiers[in.ID] = tier
	}
	m.revision++
	r := m.find(in.ID, branch)
	if r == nil {
		r = &modelRecord{id: in.ID, kind: in.Kind, tier: tier, branch: branch}
		m.records = append(m.records, r)
	}
	r.text, r.revision, r.hidden = in.Text, m.revision, false
	if tier == TierBranch {
		m.versions[branch]++
	}
}

func (m *model) expectRetract(in RetractInput, branch string) string {
	r := m.find(in.ID, branch)
	switch {
	case in.ExpectedRecovery != m.recovered:
		return string(ReasonRecovered)
	case r == nil:
		return string(ReasonMissing)
	case r.hidden:
		return string(ReasonHidden)
	case r.revision != in.ExpectedRevision:
		return string(ReasonRevision)
	}
	return ""
}

// view is what a branch sees, one line a record, and the versions elsewhere.
func (m *model) view(branch string) (lines []string, others int) {
	for _, r := range m.records {
		if !r.hidden && (r.tier == TierRepo || r.branch == branch) {
			lines = append(lines, fmt.Sprint(r.id, r.kind, r.tier, r.text, r.revision))
		}
	}
	for b, n := range m.versions {
		if b != branch {
			others += n
		}
	}
	return lines, others
}

// outcome is an error in the model's words.
func outcome(t *rapid.T, err error) string {
	var c *Conflict
	var e *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &c):
		if text := strings.ReplaceAll(c.Error(), fmt.Sprintf("%q", c.ID), ""); strings.ContainsAny(text, "0123456789") {
			t.Errorf("a conflict tells a number: %v", c)
		}
		return string(c.Reason)
	case errors.As(err, &e):
		return e.Field
	}
	t.Fatalf("an error of another type: %v", err)
	return ""
}

// Whatever is recorded, retracted and recovered in whatever order: the model
// and the ledger agree, and the ledger reads back as it was.
func TestRandomHistoriesKeepEveryRule(t *testing.T) {
	branches := []*string{nil, new("main"), new("(detached)"), new("a/b")}
	recoveries := []string{"", "0a1b2c3d-0000-4000-8000-00000000000b", "0a1b2c3d-0000-4000-8000-00000000000c"}
	rapid.Check(t, func(t *rapid.T) {
		l := New(testID)
		m := &model{tiers: map[string]string{}, versions: map[string]int{}}
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			branch := rapid.SampledFrom(branches).Draw(t, "branch")
			id := rapid.SampledFrom([]string{"a", "b", "C"}).Draw(t, "id")
			recovery := m.recovered
			if rapid.IntRange(0, 9).Draw(t, "stale recovery") == 0 {
				recovery = rapid.SampledFrom(recoveries).Draw(t, "recovery")
			}
			// Mostly the right revision, so that histories grow.
			expected := rapid.Uint64Range(0, m.revision+1).Draw(t, "expected")
			if r := m.find(id, modelBranch(branch)); rapid.IntRange(0, 3).Draw(t, "know") > 0 {
				expected = 0
				if r != nil {
					expected = r.revision
				}
			}
			before := encodeRapid(t, l)
			next := l
			var err error
			var want string
			switch rapid.SampledFrom([]string{"record", "record", "record", "retract", "retract", "recover"}).Draw(t, "what") {
			case "record":
				in := RecordInput{
					ID: id, Kind: rapid.SampledFrom([]string{KindGoal, KindDecision, KindNext}).Draw(t, "kind"),
					Tier: rapid.SampledFrom([]string{"", "", TierRepo, TierBranch}).Draw(t, "tier"),
					Text: "t" + rapid.StringMatching(`[a-zäß😀"\\<]{0,8}`).Draw(t, "text"), Source: "s",
					ExpectedRevision: &expected, ExpectedRecovery: recovery,
				}
				want = m.expect(in, modelBranch(branch))
				next, _, err = l.Record(in, at(branch))
				if want == "" {
					m.record(in, modelBranch(branch))
				}
			case "retract":
				in := RetractInput{ID: id, ExpectedRevision: expected, ExpectedRecovery: recovery}
				want = m.expectRetract(in, modelBranch(branch))
				next, _, err = l.Retract(in, at(branch))
				if want == "" {
					m.revision++
					m.find(id, modelBranch(branch)).hidden = true
				}
			case "recover":
				m.recovered = rapid.SampledFrom(recoveries[1:]).Draw(t, "new recovery")
				next = l.Recovered(m.recovered, at(nil).Now)
			}
			if got := outcome(t, err); got != want {
				t.Fatalf("ended with %q (%v), want %q", got, err, want)
			}
			if !bytes.Equal(encodeRapid(t, l), before) {
				t.Fatal("the old ledger was changed")
			}
			if err != nil {
				if next != nil {
					t.Fatal("a refused change gave a ledger")
				}
				continue
			}
			l = next
			agree(t, l, m, branches)
		}
	})
}

// agree compares what was written and read again with the model.
func agree(t *rapid.T, l *Ledger, m *model, branches []*string) {
	data := encodeRapid(t, l)
	read, err := Parse(data)
	if err != nil {
		t.Fatalf("can't be read again: %v\n%s", err, data)
	}
	if !bytes.Equal(encodeRapid(t, read), data) {
		t.Fatalf("reads back differently:\n%s", data)
	}
	if read.Revision != m.revision || read.RecoveryID != m.recovered {
		t.Fatalf("revision %d, recovery %q, want %d, %q", read.Revision, read.RecoveryID, m.revision, m.recovered)
	}
	for _, b := range branches {
		v := read.View(b)
		if !reflect.DeepEqual(v, l.View(b)) {
			t.Fatal("the view differs after reading")
		}
		var got []string
		for _, r := range v.Records {
			got = append(got, fmt.Sprint(r.ID, r.Kind, r.Tier, r.Text, r.Revision))
		}
		want, others := m.view(modelBranch(b))
		if !slices.Equal(got, want) || v.OtherBranchRecords != others {
			t.Fatalf("%s sees %q and %d elsewhere, want %q and %d", modelBranch(b), got, v.OtherBranchRecords, want, others)
		}
	}
}

func encodeRapid(t *rapid.T, l *Ledger) []byte {
	data, err := l.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return data
}
