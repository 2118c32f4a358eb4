package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func wantConflict(t *testing.T, err error, reason Reason) {
	t.Helper()
	var c *Conflict
	if !errors.As(err, &c) || c.Reason != reason {
		t.Fatalf("got %v, want a conflict: %s", err, reason)
	}
	if strings.ContainsAny(c.Error(), "0123456789") {
		t.Errorf("the refusal tells a number: %v", c)
	}
}

func goalInput(id string) RecordInput {
	return RecordInput{ID: id, Kind: KindGoal, Text: "text", Source: "source"}
}

// chain appends inputs one after the other on main.
func chain(t *testing.T, l *Ledger, branch *string, ins ...RecordInput) *Ledger {
	t.Helper()
	for _, in := range ins {
		next, _, err := l.Record(in, at(branch))
		if err != nil {
			t.Fatal(err)
		}
		l = next
	}
	return l
}

func TestAWriteMustKnowTheLatestRevision(t *testing.T) {
	main := new("main")
	l := chain(t, New(testID), main, goalInput("a"), goalInput("b"))
	_, _, err := l.Record(goalInput("a"), at(main))
	wantConflict(t, err, ReasonRevision)
	stale := goalInput("a")
	stale.ExpectedRevision = new(uint64(2))
	_, _, err = l.Record(stale, at(main))
	wantConflict(t, err, ReasonRevision)
	absent := goalInput("c")
	absent.ExpectedRevision = new(uint64(2))
	_, _, err = l.Record(absent, at(main))
	wantConflict(t, err, ReasonMissing)
	fresh := goalInput("a")
	fresh.ExpectedRevision = new(uint64(1))
	next, r, err := l.Record(fresh, at(main))
	if err != nil || r.Revision != 3 {
		t.Fatalf("revision %d, %v", r.Revision, err)
	}
	if l.Revision != 2 || len(l.Records) != 2 {
		t.Error("the old ledger was changed")
	}
	if _, err := Parse(encode(t, next)); err != nil {
		t.Error(err)
	}
	other := goalInput("a")
	other.Kind, other.ExpectedRevision = KindDecision, new(uint64(1))
	if _, _, err = l.Record(other, at(main)); err == nil || !strings.Contains(err.Error(), "kind") {
		t.Errorf("a kind changed: %v", err)
	}
}

func TestTiersDecideWhatABranchSees(t *testing.T) {
	main, dev := new("main"), new("dev")
	todo := RecordInput{ID: "todo", Kind: KindNext, Text: "on main", Source: "s"}
	l := chain(t, New(testID), main, goalInput("goal"), todo)
	todo.Text = "on dev"
	l = chain(t, l, dev, todo) // the same id on another branch is another record
	v := l.View(dev)
	if len(v.Records) != 2 || v.Records[0].ID != "goal" || v.Records[1].Text != "on dev" || v.OtherBranchRecords != 1 {
		t.Errorf("dev sees %+v, %d elsewhere", v.Records, v.OtherBranchRecords)
	}
	_, _, err := l.Record(goalInput("goal"), at(dev)) // a repo record is one whatever the branch
	wantConflict(t, err, ReasonRevision)
	moved := goalInput("goal")
	moved.Tier = TierBranch
	if _, _, err := l.Record(moved, at(dev)); err == nil || !strings.Contains(err.Error(), "tier") {
		t.Errorf("a tier changed: %v", err)
	}
	// No branch is a place of its own, also beside a branch called "(detached)".
	none := chain(t, l, nil, RecordInput{ID: "lost", Kind: KindNext, Text: "t", Source: "s"})
	if v := none.View(new("(detached)")); len(v.Records) != 1 || v.OtherBranchRecords != 3 {
		t.Errorf("a branch called (detached) sees %+v", v.Records)
	}
	if v := none.View(nil); len(v.Records) != 2 {
		t.Errorf("no branch sees %+v", v.Records)
	}
}

func TestRetractionHidesUntilTheRecordIsWrittenAgain(t *testing.T) {
	main, dev := new("main"), new("dev")
	l := chain(t, New(testID), main, goalInput("a"), goalInput("b"))
	_, _, err := l.Retract(RetractInput{ID: "a", ExpectedRevision: 2}, at(main))
	wantConflict(t, err, ReasonRevision)
	_, _, err = l.Retract(RetractInput{ID: "nope", ExpectedRevision: 1}, at(main))
	wantConflict(t, err, ReasonMissing)
	l, r, err := l.Retract(RetractInput{ID: "a", ExpectedRevision: 1}, at(dev))
	if err != nil || r.Revision != 3 || r.Category != CategoryRecord {
		t.Fatal(r, err)
	}
	if v := l.View(main); len(v.Records) != 1 || v.Records[0].ID != "b" {
		t.Errorf("a repo record retracted on dev is still seen on main: %+v", v.Records)
	}
	_, _, err = l.Retract(RetractInput{ID: "a", ExpectedRevision: 1}, at(main))
	wantConflict(t, err, ReasonHidden)
	back := goalInput("a")
	back.ExpectedRevision = new(uint64(1))
	l = chain(t, l, main, back)
	if v := l.View(main); len(v.Records) != 2 {
		t.Errorf("it did not come back: %+v", v.Records)
	}
	if _, err := Parse(encode(t, l)); err != nil {
		t.Error(err)
	}
}

func TestEveryWriteMustKnowTheLastRecovery(t *testing.T) {
	main := new("main")
	l := chain(t, New(testID), main, goalInput("a")).Recovered("0a1b2c3d-0000-4000-8000-00000000000b", at(main).Now)
	_, _, err := l.Record(goalInput("b"), at(main))
	wantConflict(t, err, ReasonRecovered)
	_, _, err = l.Retract(RetractInput{ID: "a", ExpectedRevision: 1}, at(main))
	wantConflict(t, err, ReasonRecovered)
	in := goalInput("b")
	in.ExpectedRecovery = strings.ToUpper(l.RecoveryID)
	if _, _, err := l.Record(in, at(main)); err != nil {
		t.Error(err)
	}
	in.ExpectedRecovery = "0a1b2c3d-0000-4000-8000-00000000000c"
	_, _, err = l.Record(in, at(main))
	wantConflict(t, err, ReasonRecovered)
	fresh := New(testID)
	_, _, err = fresh.Record(in, at(main))
	wantConflict(t, err, ReasonRecovered)
}

func TestTextsAreTrimmedWhenStored(t *testing.T) {
	in := goalInput("a")
	in.Text = "\u00a0\ufeff text \u2028\n"
	_, r, err := New(testID).Record(in, at(nil))
	if err != nil || r.Text != "text" {
		t.Errorf("%q, %v", r.Text, err)
	}
}

func TestRecordInputIsReadStrictly(t *testing.T) {
	for name, row := range map[string]struct{ in, want string }{
		"unknown":      {`{"id":"a","kind":"goal","text":"t","source":"s","x":1}`, "x is an unknown field"},
		"null":         {`{"id":null}`, "id is null"},
		"duplicate":    {`{"id":"a","id":"b"}`, "occurs twice"},
		"wrong type":   {`{"id":1}`, "id has a value of the wrong type"},
		"negative":     {`{"expected_revision":-1}`, "expected_revision has a value of the wrong type or range"},
		"not JSON":     {`hello`, "the record is not valid JSON"},
		"trailing":     {`{} {}`, "the record is not valid JSON"},
		"oversized":    {`{"id":"` + strings.Repeat("a", MaxInputBytes) + `"}`, "larger than 16384 bytes"},
		"empty":        {``, "not valid JSON"},
		"an array":     {`[]`, "wrong type"},
		"wrong case":   {`{"ID":"a"}`, "ID is an unknown field"},
		"escaped name": {`{"\u0069d":"a","id":"b"}`, "occurs twice"},
	} {
		if _, err := ParseRecordInput([]byte(row.in)); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", name, err, row.want)
		}
	}
	if in, err := ParseRecordInput([]byte(`{"id":"a","kind":"goal","text":"t","source":"s","tier":"branch","expected_revision":0}`)); err != nil || in.Tier != TierBranch {
		t.Errorf("%+v, %v", in, err)
	}
}

func TestRecordInputLimitIsInclusive(t *testing.T) {
	frame := `{"id":"a","kind":"goal","text":"t","source":"s"}`
	fits := frame + strings.Repeat(" ", MaxInputBytes-len(frame))
	if _, err := ParseRecordInput([]byte(fits)); err != nil {
		t.Errorf("%d bytes: %v", len(fits), err)
	}
	_, err := ParseRecordInput([]byte(fits + " "))
	var e *Error
	if !errors.As(err, &e) || e.Kind != TooLarge {
		t.Errorf("one byte more: %v", err)
	}
}

func TestRecordInputNeverQuotesAValue(t *testing.T) {
	const secret = "hunter2secret"
	for _, in := range []string{
		`{"id":{"x":"` + secret + `"}}`, `{"expected_revision":"` + secret + `"}`, `{"text":"` + secret, `{"text":"` + secret + `\ud800"}`,
		`{"id":"a","id":"` + secret + `"}`, secret, `"` + secret + `"`, `["` + secret + `"]`,
	} {
		if _, err := ParseRecordInput([]byte(in)); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", in, err)
		}
	}
}

func TestRecordRefusesEveryBrokenRuleByName(t *testing.T) {
	for name, row := range map[string]struct {
		change func(in *RecordInput, at *At)
		field  string
	}{
		"id":                   {func(in *RecordInput, _ *At) { in.ID = "a b" }, "id"},
		"kind":                 {func(in *RecordInput, _ *At) { in.Kind = "plan" }, "kind"},
		"no text":              {func(in *RecordInput, _ *At) { in.Text = "\u00a0\ufeff\u2028" }, "text"},
		"long text":            {func(in *RecordInput, _ *At) { in.Text = strings.Repeat("😀", 2001) }, "text"},
		"hidden text":          {func(in *RecordInput, _ *At) { in.Text = "a\U000E0041b" }, "text"},
		"no source":            {func(in *RecordInput, _ *At) { in.Source = "" }, "source"},
		"answer without":       {func(in *RecordInput, _ *At) { in.Kind = KindAnswer }, "answer"},
		"blank answer":         {func(in *RecordInput, _ *At) { in.Kind, in.Answer = KindAnswer, " " }, "answer"},
		"long why":             {func(in *RecordInput, _ *At) { in.Why = strings.Repeat("x", 2001) }, "why"},
		"status":               {func(in *RecordInput, _ *At) { in.Status = "closed" }, "status"},
		"done goal":            {func(in *RecordInput, _ *At) { in.Status = "done" }, "status"},
		"scope":                {func(in *RecordInput, _ *At) { in.Scope = "global" }, "scope"},
		"tier":                 {func(in *RecordInput, _ *At) { in.Tier = "world" }, "tier"},
		"branch that is long":  {func(_ *RecordInput, at *At) { at.Branch = new(strings.Repeat("b", 1025)) }, "branch"},
		"branch with a hidden": {func(_ *RecordInput, at *At) { at.Branch = new("a\u200bb") }, "branch"},
		"head":                 {func(_ *RecordInput, at *At) { at.Head = new("HEAD") }, "observed_head"},
	} {
		in, at := goalInput("a"), at(new("main"))
		row.change(&in, &at)
		_, _, err := New(testID).Record(in, at)
		var e *Error
		if !errors.As(err, &e) || e.Kind != Invalid || e.Field != row.field {
			t.Errorf("%s: got %v, want a refusal of %s", name, err, row.field)
		}
	}
}

func TestRetractRefusesEveryBrokenRuleByName(t *testing.T) {
	main := new("main")
	l := chain(t, New(testID), main, goalInput("a"))
	for name, row := range map[string]struct {
		in    RetractInput
		field string
	}{
		"id":       {RetractInput{ID: "a b", ExpectedRevision: 1}, "id"},
		"category": {RetractInput{ID: "a", Category: "note", ExpectedRevision: 1}, "category"},
	} {
		_, _, err := l.Retract(row.in, at(main))
		var e *Error
		if !errors.As(err, &e) || e.Kind != Invalid || e.Field != row.field {
			t.Errorf("%s: got %v, want a refusal of %s", name, err, row.field)
		}
	}
	// A receipt of the same id is another thing, on its own branch only.
	checked := withCheck(t, l)
	_, _, err := checked.Retract(RetractInput{ID: "unit", Category: CategoryCheck, ExpectedRevision: 2}, at(new("dev")))
	wantConflict(t, err, ReasonMissing)
	_, _, err = checked.Retract(RetractInput{ID: "unit", ExpectedRevision: 2}, at(main))
	wantConflict(t, err, ReasonMissing)
	hidden, _, err := checked.Retract(RetractInput{ID: "unit", Category: CategoryCheck, ExpectedRevision: 2}, at(main))
	if err != nil {
		t.Fatal(err)
	}
	if v := hidden.View(main); len(v.Checks) != 0 || len(v.Records) != 1 || len(checked.View(main).Checks) != 1 {
		t.Errorf("%+v", v)
	}
	if v := checked.View(new("dev")); len(v.Checks) != 0 {
		t.Errorf("a receipt is seen from another branch: %+v", v.Checks)
	}
}

// W1, W5: a full ledger can still be retracted from and recovered.
func TestAFullLedgerKeepsAWayOut(t *testing.T) {
	main := new("main")
	l := New(testID)
	var err error
	n := 0
	for {
		in := goalInput(fmt.Sprint("r", n))
		in.Text, in.Why = strings.Repeat("x", 2000), strings.Repeat("y", 2000)
		var next *Ledger
		next, _, err = l.Record(in, at(main))
		if err != nil {
			t.Fatal(err)
		}
		if n > 400 { // near the limit: encoding each one would be slow before
			if _, err = next.Encode(); err != nil {
				break
			}
		}
		l = next
		n++
	}
	var e *Error
	if !errors.As(err, &e) || e.Kind != TooLarge || !strings.Contains(err.Error(), "retracting and recovering still work") {
		t.Fatalf("full: %v", err)
	}
	if !strings.Contains(err.Error(), fmt.Sprint(maxRecorded)) {
		t.Errorf("the refusal does not name the limit: %v", err)
	}
	for i := range 100 {
		next, _, err := l.Retract(RetractInput{ID: fmt.Sprint("r", i), ExpectedRevision: uint64(i + 1)}, at(main))
		if err != nil {
			t.Fatal(err)
		}
		l = next
		if i%10 == 9 { // each one costs seconds under the race detector
			encode(t, l)
		}
	}
	rec := l.Recovered(testID, at(main).Now)
	data := encode(t, rec)
	if _, err := Parse(data); err != nil || len(data) > MaxBytes {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}

func TestMarkdownCannotBeBrokenOutOf(t *testing.T) {
	hostile := []string{
		"# Heading", "\n# Heading", "a\n\n## Goal\n\n- `x`", "`", "``", "a `b` ``c`` d", "```\ncode\n```", "[l](http://x)", "![i](x)",
		"<script>alert(1)</script>", "http://example.com", "- item", "> quote", "| a | b |", "~~~", "&amp;", "\\`", "a\r\nb", " ` ",
	}
	l := New(testID)
	for i, s := range hostile {
		if trim(s) == "" {
			continue
		}
		l = chain(t, l, nil, RecordInput{ID: fmt.Sprint("h", i), Kind: KindDecision, Text: s, Source: s, Why: s})
	}
	md := string(Markdown(l.View(nil), MarkdownOptions{}))
	allowed := []string{"# Project handoff", "## Goal", "## Already answered", "## Decisions", "## Next actions and completion", "## Checks with execution evidence"}
	for line := range strings.Lines(md) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "#") {
			if len(allowed) == 0 || line != allowed[0] {
				t.Errorf("a heading of its own: %q", line)
			} else {
				allowed = allowed[1:]
			}
			continue
		}
		if bare := outsideSpans(t, line); strings.ContainsAny(bare, "<>[]|~*`\\&") {
			t.Errorf("text stands outside of a code span: %q", line)
		}
	}
}

// outsideSpans is what of a line is not in a code span, read as CommonMark does:
// a run of n backticks opens, the next run of exactly n closes.
func outsideSpans(t *testing.T, line string) string {
	t.Helper()
	var out strings.Builder
	for i := 0; i < len(line); {
		if line[i] != '`' {
			out.WriteByte(line[i])
			i++
			continue
		}
		n := 0
		for i+n < len(line) && line[i+n] == '`' {
			n++
		}
		end := -1
		for j := i + n; j < len(line); {
			if line[j] != '`' {
				j++
				continue
			}
			m := 0
			for j+m < len(line) && line[j+m] == '`' {
				m++
			}
			if m == n {
				end = j + m
				break
			}
			j += m
		}
		if end < 0 {
			t.Errorf("a code span is not closed: %q", line)
			return line
		}
		i = end
	}
	return out.String()
}

// W34: code and paths arrive as they were written.
func TestMarkdownKeepsCodeReadable(t *testing.T) {
	const code = `snake_case_fn(a) in C:\tmp\my_file.js #42`
	l := chain(t, New(testID), nil, RecordInput{ID: "a", Kind: KindDecision, Text: code, Source: "s"})
	if md := Markdown(l.View(nil), MarkdownOptions{}); !bytes.Contains(md, []byte("`"+code+"`")) {
		t.Errorf("%s", md)
	}
}

func TestMarkdownSaysWhatItLeavesOut(t *testing.T) {
	l := New(testID)
	for i := range 100 {
		in := goalInput(fmt.Sprint("r", i))
		in.Text = strings.Repeat("x", 1900)
		l = chain(t, l, nil, in)
	}
	md := Markdown(l.View(nil), MarkdownOptions{MaxBytes: 64 << 10})
	shown := bytes.Count(md, []byte("\n- "))
	if len(md) > 64<<10 || shown == 0 || !bytes.Contains(md, fmt.Appendf(nil, "%d entries are left out", 100-shown)) {
		t.Errorf("%d bytes, %d shown:\n%s", len(md), shown, md[max(0, len(md)-600):])
	}
}

func FuzzParse(f *testing.F) {
	l, _, err := New(testID).Record(goalInput("a"), at(new("main")))
	if err != nil {
		f.Fatal(err)
	}
	data, err := l.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"format":"landfast/1","ledger_id":"` + testID + `","revision":0,"records":[],"checks":[],"retractions":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := Parse(data)
		if err != nil {
			return
		}
		again, err := l.Encode()
		if err != nil {
			return // white space may have made it fit
		}
		if m, err := Parse(again); err != nil || m.Revision != l.Revision {
			t.Errorf("what was read can't be read again: %v", err)
		}
		Markdown(l.View(nil), MarkdownOptions{MaxBytes: 4096})
	})
}

func FuzzRecordInput(f *testing.F) {
	f.Add([]byte(`{"id":"a","kind":"goal","text":"t","source":"s"}`))
	f.Add([]byte(`{"id":"a","kind":"answer","text":"a\nb","source":"s","answer":"x","tier":"branch"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := ParseRecordInput(data)
		if err != nil {
			return
		}
		l, _, err := New(testID).Record(in, at(nil))
		if err != nil {
			return
		}
		out, err := l.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(out); err != nil {
			t.Errorf("an accepted record makes an unreadable ledger: %v", err)
		}
	})
}

func FuzzSpan(f *testing.F) {
	f.Add("a `b` ``c``")
	f.Add("`")
	f.Fuzz(func(t *testing.T, s string) {
		if checkText("text", s) != nil {
			return
		}
		if bare := outsideSpans(t, span(trim(s))); bare != "" {
			t.Errorf("%q leaves %q outside", s, bare)
		}
	})
}

func bigLedger(b *testing.B) []byte {
	b.Helper()
	l := New(testID)
	for i := range 3300 {
		in := goalInput(fmt.Sprint("r", i))
		in.Text = strings.Repeat("word ", 40)
		next, _, err := l.Record(in, at(new("main")))
		if err != nil {
			b.Fatal(err)
		}
		l = next
	}
	data, err := l.Encode()
	if err != nil {
		b.Fatal(err)
	}
	return data
}

func BenchmarkParseBig(b *testing.B) {
	data := bigLedger(b)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := Parse(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRecordBig(b *testing.B) {
	l, err := Parse(bigLedger(b))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		next, _, err := l.Record(goalInput("new"), at(new("main")))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := next.Encode(); err != nil {
			b.Fatal(err)
		}
	}
}
