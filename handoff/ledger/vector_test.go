package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/landfast/landfast/internal/golden"
)

// The worked example of the chain: testdata/chain.json is a ledger and
// testdata/chain.txt, for each entry, its RFC 8785 form and that form's digest.
// Whoever writes another reader can compare.
func TestWorkedExampleOfTheChain(t *testing.T) {
	data := encode(t, sample(t))
	golden.Cmp(t, "chain.json", data)
	l, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	var work bytes.Buffer
	prev := ""
	for _, e := range l.entries() {
		form := plainForm(t, e.value)
		mine, err := canonical(e.value)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(mine, form) {
			t.Errorf("%s: form\n%s\nwant\n%s", e.field, mine, form)
		}
		if e.prev != prev {
			t.Errorf("%s: prev %q, want %q", e.field, e.prev, prev)
		}
		prev = fmt.Sprintf("%x", sha256.Sum256(form))
		fmt.Fprintf(&work, "revision %d: %s\n%s\nsha256 %s\n\n", e.revision, e.field, form, prev)
	}
	golden.Cmp(t, "chain.txt", work.Bytes())
}

// plainForm is RFC 8785 by other means: the standard library sorts keys and
// writes no blanks; nothing in the sample needs more than that.
func plainForm(t *testing.T, v any) []byte {
	t.Helper()
	entry, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(entry))
	dec.UseNumber()
	var members map[string]any
	if err := dec.Decode(&members); err != nil {
		t.Fatal(err)
	}
	for _, optional := range []string{"answer", "why", "origin", "prev", "error", "signal", "signature"} {
		if s, ok := members[optional]; ok && (s == nil || s == "") {
			delete(members, optional)
		}
	}
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(members); err != nil {
		t.Fatal(err)
	}
	return []byte(strings.TrimSuffix(out.String(), "\n"))
}
