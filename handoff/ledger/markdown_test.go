package ledger

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/landfast/landfast/internal/golden"
)

// shown is a view with something in every place where text can stand.
func shown(t testing.TB) View {
	t.Helper()
	l := sample(t)
	dev := at(new("feature/`x` # [y](z)"))
	for _, in := range []RecordInput{
		{ID: "code", Kind: KindDecision, Text: `snake_case_fn(a) in C:\tmp\my_file.js #42`, Source: "review <b>", Why: "# not a heading\n\n- not an item"},
		{ID: "ticks", Kind: KindDecision, Text: "`a` ``b`` ```c```", Source: "`"},
		{ID: "elsewhere", Kind: KindNext, Text: "on another branch", Source: "s"},
	} {
		next, _, err := l.Record(in, dev)
		l, _ = must(t, next, in, err)
	}
	done := RecordInput{ID: "todo", Kind: KindNext, Text: "Write tests", Source: "me", Status: "done", ExpectedRevision: new(uint64(3))}
	next, _, err := l.Record(done, at(new("main")))
	l, _ = must(t, next, done, err)
	v := l.Recovered("0a1b2c3d-0000-4000-8000-00000000000b", dev.Now).View(new("main"))
	v.Head = new(strings.Repeat("a", 40))
	return v
}

func TestMarkdownOfAWholeView(t *testing.T) {
	golden.Cmp(t, "view.md", Markdown(shown(t), MarkdownOptions{}))
}

func TestMarkdownOfAnEmptyView(t *testing.T) {
	golden.Cmp(t, "empty.md", Markdown(New(testID).View(nil), MarkdownOptions{}))
}

// What can't be told apart from the page's own lines can't be trusted.
func checkPage(t *testing.T, page []byte) {
	t.Helper()
	headings := []string{"# Project handoff", "## Goal", "## Already answered", "## Decisions", "## Next actions and completion", "## Checks with execution evidence"}
	own := regexp.MustCompile(`^(-  \(revision |  - |None recorded\.$|Revision |This ledger |What follows |Other branches hold |[0-9]+ entries are left out|To correct |$)`)
	for line := range strings.Lines(string(page)) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "#") {
			if len(headings) == 0 || line != headings[0] {
				t.Errorf("a heading of its own: %q", line)
				continue
			}
			headings = headings[1:]
			continue
		}
		bare := outsideSpans(t, line)
		if strings.ContainsAny(bare, "<>[]|~*`\\&\r\t") || !own.MatchString(bare) {
			t.Errorf("a text made a line of its own: %q", line)
		}
	}
	if len(headings) > 0 {
		t.Errorf("headings are missing: %q", headings)
	}
}

func TestMarkdownHoldsItsLimitAndCountsWhatItDrops(t *testing.T) {
	l := New(testID)
	for i, kind := range []string{KindGoal, KindDecision, KindNext, KindDecision, KindGoal} {
		for j := range 12 {
			in := RecordInput{ID: fmt.Sprintf("r%d-%d", i, j), Kind: kind, Source: "s", Text: strings.Repeat("`x ", 40*j+1)}
			l = chain(t, l, nil, in)
		}
	}
	v := l.View(nil)
	v.OtherBranchRecords = 1 << 40
	whole := Markdown(v, MarkdownOptions{})
	count := regexp.MustCompile(`(?m)^(\d+) entries are left out`)
	for limit := 4 << 10; limit < len(whole)+4<<10; limit += 1 << 10 {
		page := Markdown(v, MarkdownOptions{MaxBytes: limit})
		if len(page) > limit {
			t.Errorf("%d bytes, the limit is %d", len(page), limit)
		}
		dropped := 0
		if m := count.FindSubmatch(page); m != nil {
			dropped, _ = strconv.Atoi(string(m[1]))
		}
		if there := bytes.Count(page, []byte("\n- ")); there+dropped != len(v.Records) {
			t.Errorf("limit %d: %d shown, %d said to be left out, of %d", limit, there, dropped, len(v.Records))
		}
		checkPage(t, page)
	}
}

func TestMarkdownNamesTheBranchARepoRecordCameFrom(t *testing.T) {
	l := chain(t, New(testID), new("dev"), goalInput("a"))
	l = chain(t, l, nil, goalInput("b"))
	for name, row := range map[string]struct {
		branch *string
		want   []string
	}{
		"main": {new("main"), []string{"`a` (revision 1, repo, from branch `dev`)", "`b` (revision 2, repo, from branch none)"}},
		"dev":  {new("dev"), []string{"`a` (revision 1, repo)", "`b` (revision 2, repo, from branch none)"}},
		"none": {nil, []string{"`a` (revision 1, repo, from branch `dev`)", "`b` (revision 2, repo)"}},
	} {
		page := string(Markdown(l.View(row.branch), MarkdownOptions{}))
		for _, want := range row.want {
			if !strings.Contains(page, want) {
				t.Errorf("%s: no %q in\n%s", name, want, page)
			}
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	f.Add("text", "source", "why", "branch")
	f.Add("# h\n\n## Goal", "- `x`\r\n```", "<!-- a", "`")
	f.Add("`", " `` ", "a\tb\\`", "a` [x](y)")
	f.Add("```\ncode\n```", "~~~", "> q", "| a |")
	f.Fuzz(func(t *testing.T, text, source, why, branch string) {
		in := RecordInput{ID: "a", Kind: KindDecision, Text: text, Source: source, Why: why}
		l, r, err := New(testID).Record(in, at(&branch))
		if err != nil {
			return // nothing that was refused is ever shown
		}
		for _, from := range []*string{nil, &branch} {
			page := Markdown(l.View(from), MarkdownOptions{})
			checkPage(t, page)
			if !strings.ContainsAny(r.Text, "\r\n\t") && !bytes.Contains(page, []byte(r.Text)) {
				t.Errorf("the text is not readable as written: %q", r.Text)
			}
		}
	})
}
