package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

const testID = "0a1b2c3d-0000-4000-8000-00000000000a"

func at(branch *string) At {
	return At{Now: time.Date(2026, 5, 6, 7, 8, 9, 123e6, time.UTC), Branch: branch, Head: new(strings.Repeat("a", 40))}
}

// must fails the test instead of returning an error.
func must[T any](t testing.TB, l *Ledger, v T, err error) (*Ledger, T) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return l, v
}

// sample is a ledger with an entry of every kind, on branch main.
func sample(t testing.TB) *Ledger {
	t.Helper()
	l := New(testID)
	main := at(new("main"))
	for _, in := range []RecordInput{
		{ID: "ship", Kind: KindGoal, Text: "Ship it", Source: "roadmap"},
		{ID: "db", Kind: KindAnswer, Text: "Which?", Answer: "SQLite", Source: "chat", Why: "one file"},
		{ID: "todo", Kind: KindNext, Text: "Write tests", Source: "me"},
	} {
		next, _, err := l.Record(in, main)
		l, _ = must(t, next, in, err)
	}
	next, _, err := l.Retract(RetractInput{ID: "db", ExpectedRevision: 2}, main)
	l, _ = must(t, next, 0, err)
	return withCheck(t, l)
}

// withCheck appends a receipt, as running a check will.
func withCheck(t testing.TB, l *Ledger) *Ledger {
	t.Helper()
	next, revision, prev, err := l.grow(at(new("main")), MaxBytes)
	if err != nil {
		t.Fatal(err)
	}
	zero := uint32(0)
	next.Checks = append(next.Checks, Check{
		ID: "unit", Title: "Unit tests", Command: []string{"go", "test"}, Scope: "project", Revision: revision, Prev: prev,
		Branch: new("main"), Environment: "local", Runtime: "go1.26", Inputs: map[string]string{"go.mod": strings.Repeat("0", 64), "__proto__": strings.Repeat("1", 64)},
		InputsStable: true, StartedAt: "2026-05-06T07:08:09Z", RecordedAt: "2026-05-06T07:08:10.5+02:00", ExitCode: &zero,
		OutputSHA256: strings.Repeat("f", 64), EvidenceSource: evidenceSource,
	})
	return next
}

func encode(t testing.TB, l *Ledger) []byte {
	t.Helper()
	data, err := l.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestEncodeAndParseAreInverse(t *testing.T) {
	data := encode(t, sample(t))
	l, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if again := encode(t, l); !bytes.Equal(again, data) {
		t.Errorf("parsed and encoded again:\n%s\nwas\n%s", again, data)
	}
	if !bytes.HasSuffix(data, []byte("}\n")) || bytes.HasSuffix(data, []byte("\n\n")) {
		t.Error("want exactly one final line feed")
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	var sorted bytes.Buffer
	enc := json.NewEncoder(&sorted)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(sorted.Bytes(), data) {
		t.Errorf("keys are not sorted or indentation differs:\n%s", data)
	}
	if !strings.Contains(string(data), `"__proto__"`) {
		t.Error("an input called __proto__ did not survive")
	}
}

// edit changes one thing in the sample's JSON. path elements are keys and
// indexes; value nil removes.
func edit(t *testing.T, data []byte, value any, path ...any) []byte {
	t.Helper()
	var root any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&root); err != nil {
		t.Fatal(err)
	}
	at := root
	for _, p := range path[:len(path)-1] {
		switch p := p.(type) {
		case string:
			at = at.(map[string]any)[p]
		case int:
			at = at.([]any)[p]
		}
	}
	m := at.(map[string]any)
	key := path[len(path)-1].(string)
	if value == remove {
		delete(m, key)
	} else {
		m[key] = value
	}
	out, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

const remove = "\x00remove"

func TestParseRefusesEveryBrokenRuleByName(t *testing.T) {
	good := encode(t, sample(t))
	const secret = "hunter2secret"
	rows := []struct {
		name  string
		field string // the error must begin so
		value any
		path  []any
	}{
		{"unknown top field", "extra", 1, []any{"extra"}},
		{"unknown record field", "records[0].extra", 1, []any{"records", 0, "extra"}},
		{"wrong case", "Format", "x", []any{"Format"}},
		{"format missing", "format", remove, []any{"format"}},
		{"format of something else", "format", secret, []any{"format"}},
		{"ledger id missing", "ledger_id", remove, []any{"ledger_id"}},
		{"ledger id", "ledger_id", secret, []any{"ledger_id"}},
		{"recovery id", "recovery_id", "x", []any{"recovery_id"}},
		{"recovery id null", "recovery_id", nil, []any{"recovery_id"}},
		{"revision missing", "revision", remove, []any{"revision"}},
		{"revision negative", "revision", -1, []any{"revision"}},
		{"revision a fraction", "revision", 1.5, []any{"revision"}},
		{"revision a string", "revision", "5", []any{"revision"}},
		{"revision too large", "revision", json.Number("9007199254740992"), []any{"revision"}},
		{"incomplete history", "revision", 6, []any{"revision"}},
		{"recovery id empty", "recovery_id", "", []any{"recovery_id"}},
		{"updated at empty", "updated_at", "", []any{"updated_at"}},
		{"rules negative", "rules", -1, []any{"rules"}},
		{"checks missing", "checks", remove, []any{"checks"}},
		{"retractions missing", "retractions", remove, []any{"retractions"}},
		{"format null", "format", nil, []any{"format"}},
		{"format a number", "format", 1, []any{"format"}},
		{"format of the future, badly written", "format", "landfast/02", []any{"format"}},
		{"ledger id of version 0", "ledger_id", "0a1b2c3d-0000-0000-8000-00000000000a", []any{"ledger_id"}},
		{"ledger id of another variant", "ledger_id", "0a1b2c3d-0000-4000-c000-00000000000a", []any{"ledger_id"}},
		{"ledger id without hyphens", "ledger_id", strings.ReplaceAll(testID, "-", ""), []any{"ledger_id"}},
		{"updated at", "updated_at", secret, []any{"updated_at"}},
		{"records missing", "records", remove, []any{"records"}},
		{"records null", "records", nil, []any{"records"}},
		{"records an object", "records", map[string]any{}, []any{"records"}},
		{"archive count 0", "archive.count", map[string]any{"count": 0, "digest": strings.Repeat("0", 64)}, []any{"archive"}},
		{"archive digest", "archive.digest", map[string]any{"count": 1, "digest": "x"}, []any{"archive"}},
		{"id", "records[0].id", secret + " x", []any{"records", 0, "id"}},
		{"id of 81", "records[0].id", strings.Repeat("a", 81), []any{"records", 0, "id"}},
		{"id begins with a dot", "records[0].id", ".a", []any{"records", 0, "id"}},
		{"kind", "records[0].kind", secret, []any{"records", 0, "kind"}},
		{"text missing", "records[0].text", remove, []any{"records", 0, "text"}},
		{"text empty", "records[0].text", " \u00a0\ufeff", []any{"records", 0, "text"}},
		{"text of 2001", "records[0].text", strings.Repeat("x", 2001), []any{"records", 0, "text"}},
		{"text a number", "records[0].text", 7, []any{"records", 0, "text"}},
		{"source missing", "records[0].source", remove, []any{"records", 0, "source"}},
		{"status missing", "records[0].status", remove, []any{"records", 0, "status"}},
		{"status done of a goal", "records[0].status", "done", []any{"records", 0, "status"}},
		{"scope", "records[0].scope", secret, []any{"records", 0, "scope"}},
		{"scope missing", "records[0].scope", remove, []any{"records", 0, "scope"}},
		{"tier missing", "records[0].tier", remove, []any{"records", 0, "tier"}},
		{"tier", "records[0].tier", secret, []any{"records", 0, "tier"}},
		{"answer missing", "records[1].answer", remove, []any{"records", 1, "answer"}},
		{"why null", "records[1].why", nil, []any{"records", 1, "why"}},
		{"branch missing", "records[0].branch", remove, []any{"records", 0, "branch"}},
		{"branch of 1025", "records[0].branch", strings.Repeat("b", 1025), []any{"records", 0, "branch"}},
		{"head of 39", "records[0].observed_head", strings.Repeat("a", 39), []any{"records", 0, "observed_head"}},
		{"head of 65", "records[0].observed_head", strings.Repeat("a", 65), []any{"records", 0, "observed_head"}},
		{"head in upper case", "records[0].observed_head", strings.Repeat("A", 40), []any{"records", 0, "observed_head"}},
		{"impossible date", "records[0].recorded_at", "2026-02-30T00:00:00Z", []any{"records", 0, "recorded_at"}},
		{"no seconds", "records[0].recorded_at", "2026-02-03T00:00Z", []any{"records", 0, "recorded_at"}},
		{"no zone", "records[0].recorded_at", "2026-02-03T00:00:00", []any{"records", 0, "recorded_at"}},
		{"an hour of one digit", "records[0].recorded_at", "2026-02-03T7:00:00.5Z", []any{"records", 0, "recorded_at"}},
		{"an offset of a day", "records[0].recorded_at", "2026-02-03T07:00:00+24:00", []any{"records", 0, "recorded_at"}},
		{"an offset of 60 minutes", "records[0].recorded_at", "2026-02-03T07:00:00+23:60", []any{"records", 0, "recorded_at"}},
		{"a fraction after a comma", "records[0].recorded_at", "2026-02-03T07:00:00,5Z", []any{"records", 0, "recorded_at"}},
		{"a blank for the T", "records[0].recorded_at", "2026-02-03 07:00:00Z", []any{"records", 0, "recorded_at"}},
		{"recorded_at missing", "records[0].recorded_at", remove, []any{"records", 0, "recorded_at"}},
		{"head missing", "records[0].observed_head", remove, []any{"records", 0, "observed_head"}},
		{"branch with an escape", "records[0].branch", "a\x1b[31mb", []any{"records", 0, "branch"}},
		{"id missing", "records[0].id", remove, []any{"records", 0, "id"}},
		{"id empty", "records[0].id", "", []any{"records", 0, "id"}},
		{"kind missing", "records[0].kind", remove, []any{"records", 0, "kind"}},
		{"source empty", "records[0].source", "\u2028", []any{"records", 0, "source"}},
		{"source of 2001", "records[0].source", strings.Repeat("x", 2001), []any{"records", 0, "source"}},
		{"answer of 2001", "records[1].answer", strings.Repeat("x", 2001), []any{"records", 1, "answer"}},
		{"answer empty", "records[1].answer", "", []any{"records", 1, "answer"}},
		{"text null", "records[0].text", nil, []any{"records", 0, "text"}},
		{"origin null", "records[0].origin", nil, []any{"records", 0, "origin"}},
		{"revision of an entry missing", "records[0].revision", remove, []any{"records", 0, "revision"}},
		{"revision 0", "records[0].revision", 0, []any{"records", 0, "revision"}},
		{"revision above the top", "records[2].revision", 99, []any{"records", 2, "revision"}},
		{"out of order", "records[1].revision", 1, []any{"records", 1, "revision"}},
		{"used twice over two arrays", "retractions[0].revision", 3, []any{"retractions", 0, "revision"}},
		{"a text changed by hand", "records[2].prev", "Another", []any{"records", 1, "text"}},
		{"the newest entry's prev changed by hand", "checks[0].prev", strings.Repeat("0", 64), []any{"checks", 0, "prev"}},
		{"prev in upper case", "records[1].prev", strings.Repeat("A", 64), []any{"records", 1, "prev"}},
		{"prev empty", "records[1].prev", "", []any{"records", 1, "prev"}},
		{"chained to nothing", "records[1].prev", remove, []any{"records", 1, "prev"}},
		{"first is chained", "records[0].prev", strings.Repeat("0", 64), []any{"records", 0, "prev"}},
		{"expected_revision stored", "records[0].expected_revision", 1, []any{"records", 0, "expected_revision"}},
		{"origin without ledger", "records[0].origin.ledger", map[string]any{"revision": 1, "digest": strings.Repeat("0", 64)}, []any{"records", 0, "origin"}},
		{"check without command", "checks[0].command", []any{}, []any{"checks", 0, "command"}},
		{"check of 41 arguments", "checks[0].command", strings.Split(strings.Repeat("x ", 40)+"x", " "), []any{"checks", 0, "command"}},
		{"check timed_out null", "checks[0].timed_out", nil, []any{"checks", 0, "timed_out"}},
		{"check exit code", "checks[0].exit_code", json.Number("4294967296"), []any{"checks", 0, "exit_code"}},
		{"check error", "checks[0].error", secret, []any{"checks", 0, "error"}},
		{"check keeps output", "checks[0].output_retained", true, []any{"checks", 0, "output_retained"}},
		{"check evidence", "checks[0].evidence_source", "memoir-executed-process", []any{"checks", 0, "evidence_source"}},
		{"check input path", "checks[0].inputs", map[string]any{"../x": strings.Repeat("0", 64)}, []any{"checks", 0, "inputs"}},
		{"check input in .git", "checks[0].inputs", map[string]any{"a/.GIT/x": strings.Repeat("0", 64)}, []any{"checks", 0, "inputs"}},
		{"check input device", "checks[0].inputs", map[string]any{"a/Com1.txt": strings.Repeat("0", 64)}, []any{"checks", 0, "inputs"}},
		{"check input digest", "checks[0].inputs", map[string]any{"a": "x"}, []any{"checks", 0, "inputs"}},
		{"check without inputs", "checks[0].inputs", map[string]any{}, []any{"checks", 0, "inputs"}},
		{"check signature", "checks[0].signature.key", map[string]any{"key": "x", "value": "y"}, []any{"checks", 0, "signature"}},
		{"check input beside __proto__", "checks[0].inputs", map[string]any{"__proto__": "x"}, []any{"checks", 0, "inputs"}},
		{"check input absolute", "checks[0].inputs", map[string]any{"/a": strings.Repeat("0", 64)}, []any{"checks", 0, "inputs"}},
		{"check input with a drive", "checks[0].inputs", map[string]any{"c:a": strings.Repeat("0", 64)}, []any{"checks", 0, "inputs"}},
		{"check input with a backslash", "checks[0].inputs", map[string]any{"a\\b": strings.Repeat("0", 64)}, []any{"checks", 0, "inputs"}},
		{"check input ending in a dot", "checks[0].inputs", map[string]any{"a./b": strings.Repeat("0", 64)}, []any{"checks", 0, "inputs"}},
		{"check input with a line end", "checks[0].inputs", map[string]any{"a\nb": strings.Repeat("0", 64)}, []any{"checks", 0, "inputs"}},
		{"check input of 301", "checks[0].inputs", map[string]any{strings.Repeat("a", 301): strings.Repeat("0", 64)}, []any{"checks", 0, "inputs"}},
		{"check argument empty", "checks[0].command[1]", []any{"go", ""}, []any{"checks", 0, "command"}},
		{"check argument of 2001", "checks[0].command[0]", []any{strings.Repeat("x", 2001)}, []any{"checks", 0, "command"}},
		{"check argument hidden", "checks[0].command[0]", []any{"a\u202eb"}, []any{"checks", 0, "command"}},
		{"check environment", "checks[0].environment", secret, []any{"checks", 0, "environment"}},
		{"check runtime empty", "checks[0].runtime", "", []any{"checks", 0, "runtime"}},
		{"check runtime of 201", "checks[0].runtime", strings.Repeat("x", 201), []any{"checks", 0, "runtime"}},
		{"check signal of 33", "checks[0].signal", strings.Repeat("x", 33), []any{"checks", 0, "signal"}},
		{"check output bytes", "checks[0].output_bytes", json.Number("9007199254740992"), []any{"checks", 0, "output_bytes"}},
		{"check output digest", "checks[0].output_sha256", strings.Repeat("F", 64), []any{"checks", 0, "output_sha256"}},
		{"check exit code missing", "checks[0].exit_code", remove, []any{"checks", 0, "exit_code"}},
		{"check inputs_stable missing", "checks[0].inputs_stable", remove, []any{"checks", 0, "inputs_stable"}},
		{"check started_at", "checks[0].started_at", "2026-13-01T00:00:00Z", []any{"checks", 0, "started_at"}},
		{"check title missing", "checks[0].title", remove, []any{"checks", 0, "title"}},
		{"unknown check field", "checks[0].extra", 1, []any{"checks", 0, "extra"}},
		{"unknown retraction field", "retractions[0].extra", 1, []any{"retractions", 0, "extra"}},
		{"retraction id missing", "retractions[0].id", remove, []any{"retractions", 0, "id"}},
		{"retraction branch missing", "retractions[0].branch", remove, []any{"retractions", 0, "branch"}},
		{"retraction category missing", "retractions[0].category", remove, []any{"retractions", 0, "category"}},
		{"retraction category", "retractions[0].category", secret, []any{"retractions", 0, "category"}},
	}
	for what, r := range hiddenSamples {
		rows = append(rows, struct {
			name  string
			field string
			value any
			path  []any
		}{"text with " + what, "records[0].text", "a" + r + "b", []any{"records", 0, "text"}})
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			_, err := Parse(edit(t, good, row.value, row.path...))
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v", err)
			}
			if e.Kind != Invalid || e.Field != row.field {
				t.Errorf("kind %d, names %q (%v), want %q", e.Kind, e.Field, e, row.field)
			}
			if s, ok := row.value.(string); ok && s != remove && len(s) > 1 && strings.Contains(e.Message, s) {
				if row.field != "records[0].status" { // the rule itself says "done"
					t.Errorf("quotes the value: %v", e)
				}
			}
		})
	}
}

// hiddenSamples are characters that a reader would not see (W33) or that
// change how others are read.
var hiddenSamples = map[string]string{
	"NUL": "\x00", "ESC": "\x1b", "DEL": "\x7f", "CSI": "\u009b", "NEL": "\u0085", "line separator": "\u2028", "paragraph separator": "\u2029",
	"right-to-left override": "\u202e", "isolate": "\u2066", "left-to-right mark": "\u200e", "arabic letter mark": "\u061c", "zero width space": "\u200b",
	"zero width joiner": "\u200d", "word joiner": "\u2060", "byte order mark": "\ufeff", "soft hyphen": "\u00ad", "tag character": "\U000E0041",
}

func TestTextKeepsWhatScriptsAndEmojiNeed(t *testing.T) {
	for name, s := range map[string]string{
		"persian": "می\u200cخواهم", "hindi": "क्\u200dष", "family": "👩\u200d👩\u200d👧", "flag": "🏳️\u200d🌈",
		"tab and line end": "a\tb\r\nc", "2000 emoji": strings.Repeat("😀", 2000), "umlauts": "äöü ß",
		"keycap": "1\ufe0f\u20e3", "heart": "❤\ufe0f", "text style": "©\ufe0e", "han variant": "葛\U000E0100", "mongolian": "ᠠ\u180b",
		"heart on fire": "❤\ufe0f\u200d🔥",
	} {
		if err := checkText("text", s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTextRefusesHiddenCharactersAroundItToo(t *testing.T) {
	for name, hidden := range hiddenSamples {
		for _, s := range []string{hidden + "text", "text" + hidden, "te" + hidden + "xt", " " + hidden + " text"} {
			if err := checkText("text", s); err == nil || err.Field != "text" {
				t.Errorf("%s in %+q: %v", name, s, err)
			}
		}
	}
}

func TestTextRefusesVariationSelectorsThatSelectNothing(t *testing.T) {
	for name, s := range map[string]string{
		"at the beginning": "\ufe0fa", "after a letter": "a\ufe0f", "after a blank": "a \ufe0fb", "after an ideographic space": "a\u3000\ufe0fb",
		"in a run": "❤\ufe0f\ufe0f", "supplementary after a letter": "a\U000E0101", "supplementary after emoji": "❤\U000E0101",
		"supplementary in a run": "葛\U000E0100\U000E0101", "mongolian after a letter": "a\u180b", "mongolian in a run": "ᠠ\u180b\u180c",
		"after a keycap's selector": "1\ufe0f\ufe00", "a sentence behind a letter": "a" + strings.Repeat("\ufe01\U000E0155", 200),
	} {
		if err := checkText("text", s); err == nil || !strings.Contains(err.Message, "variation selector") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestParseRefusesWhatIsNotStrictJSON(t *testing.T) {
	good := string(encode(t, sample(t)))
	for name, row := range map[string]struct {
		data  string
		kind  Kind
		field string
	}{
		"empty":            {"", Syntax, ""},
		"trailing data":    {good + "{}", Syntax, ""},
		"duplicate key":    {strings.Replace(good, `"format": "landfast/1",`, `"format": "landfast/1", "format": "landfast/1",`, 1), Syntax, "format"},
		"duplicate below":  {strings.Replace(good, `"id": "ship",`, `"id": "ship", "id": "ship",`, 1), Syntax, "records[0].id"},
		"escaped the same": {strings.Replace(good, `"id": "ship",`, `"id": "ship", "\u0069d": "ship",`, 1), Syntax, "records[0].id"},
		"duplicate input":  {strings.Replace(good, `"__proto__"`, `"go.mod"`, 1), Syntax, "checks[0].inputs.go.mod"},
		"invalid UTF-8":    {strings.Replace(good, "Ship it", "Ship \xff", 1), Syntax, ""},
		"lone surrogate":   {strings.Replace(good, "Ship it", `Ship \ud800`, 1), Syntax, ""},
		"byte order mark":  {"\ufeff" + good, Syntax, ""},
		"comment":          {"// x\n" + good, Syntax, ""},
		"truncated":        {good[:len(good)/2], Syntax, ""},
		"zeros":            {strings.Repeat("\x00", 100), Syntax, ""},
		"an array":         {"[]", Invalid, ""},
		"null":             {"null", Invalid, "format"},
		"an empty object":  {"{}", Invalid, "format"},
		"a null entry":     {strings.Replace(good, `"retractions": [`, `"retractions": [null,`, 1), Invalid, "retractions[0].id"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(row.data))
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v", err)
			}
			if e.Kind != row.kind || e.Field != row.field {
				t.Errorf("kind %d, field %q (%v), want %d, %q", e.Kind, e.Field, e, row.kind, row.field)
			}
			if strings.Contains(err.Error(), "Ship") {
				t.Errorf("quotes the file: %v", err)
			}
		})
	}
}

func TestTheSameBytesAlwaysGiveTheSameError(t *testing.T) {
	good := encode(t, sample(t))
	for name, paths := range map[string][2][]any{
		"two nulls":            {{"zz1"}, {"zz2"}},
		"two nulls left over":  {{"records", 0, "why"}, {"records", 0, "answer"}},
		"two nulls in a check": {{"checks", 0, "timed_out"}, {"checks", 0, "output_retained"}},
	} {
		bad := edit(t, edit(t, good, nil, paths[0]...), nil, paths[1]...)
		_, want := Parse(bad)
		if want == nil {
			t.Fatalf("%s: accepted", name)
		}
		for range 50 {
			if _, err := Parse(bad); err == nil || err.Error() != want.Error() {
				t.Fatalf("%s: %v, before %v", name, err, want)
			}
		}
	}
}

func TestParseSaysWhichVersionWroteANewerFormat(t *testing.T) {
	data := bytes.Replace(encode(t, sample(t)), []byte("landfast/1"), []byte("landfast/2"), 1)
	data = bytes.Replace(data, []byte(`"records"`), []byte(`"entries"`), 1) // whatever else it holds
	_, err := Parse(data)
	var e *Error
	if !errors.As(err, &e) || e.Kind != Newer || !strings.Contains(e.Error(), "landfast/2") {
		t.Errorf("got %v", err)
	}
}

func TestParseSizeLimitIsInclusive(t *testing.T) {
	data := encode(t, sample(t))
	fits := append(bytes.Clone(data), bytes.Repeat([]byte(" "), MaxBytes-len(data))...)
	if _, err := Parse(fits); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	_, err := Parse(append(fits, ' '))
	var e *Error
	if !errors.As(err, &e) || e.Kind != TooLarge || !strings.Contains(e.Error(), fmt.Sprint(MaxBytes)) {
		t.Errorf("one byte more: %v", err)
	}
}

// A vector with worked numbers: whoever writes another reader can compare.
func TestChainVector(t *testing.T) {
	l, first, err := New(testID).Record(RecordInput{ID: "a", Kind: KindGoal, Text: "t", Source: "s"}, At{Now: time.Unix(0, 0)})
	if err != nil {
		t.Fatal(err)
	}
	form, err := canonical(&first)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"branch":null,"id":"a","kind":"goal","observed_head":null,"recorded_at":"1970-01-01T00:00:00.000Z","revision":1,"scope":"project","source":"s","status":"open","text":"t","tier":"repo"}`
	if string(form) != want {
		t.Errorf("form %s", form)
	}
	_, second, err := l.Record(RecordInput{ID: "b", Kind: KindNext, Text: "t", Source: "s"}, At{Now: time.Unix(0, 0)})
	if err != nil {
		t.Fatal(err)
	}
	const digest1 = "a03cd8edefc5cb081efbf850507e5172bbe7dc5a5f8b5cdfd4ba6bd62952fcb1"
	if second.Prev != digest1 {
		t.Errorf("prev %s, want %s", second.Prev, digest1)
	}
}
