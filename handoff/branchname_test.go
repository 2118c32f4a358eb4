package handoff

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
	"unicode"

	"github.com/landfast/landfast/handoff/gitinfo"
	"github.com/landfast/landfast/handoff/ledger"
	"github.com/landfast/landfast/internal/testenv"
)

// Two packages judge branch names, and neither may import the other: a name that
// gitinfo lets through and the ledger refuses would make every record fail. Tried
// are all characters that are invisible or close to it.
func TestEveryBranchThatIsReadCanBeStored(t *testing.T) {
	dir := testenv.TempDir(t)
	head := filepath.Join(dir, ".git", "HEAD")
	if err := os.Mkdir(filepath.Dir(head), 0o777); err != nil {
		t.Fatal(err)
	}
	tried, stored := 0, 0
	for r := rune(1); r <= unicode.MaxRune; r++ {
		if r >= 0x80 && !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Z, unicode.Variation_Selector,
			unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point) || r > 0xE01EF {
			continue
		}
		tried++
		if err := os.WriteFile(head, []byte("ref: refs/heads/a"+string(r)+"b\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		branch := gitinfo.Read(context.Background(), dir).Branch
		if branch == nil {
			continue
		}
		stored++
		in := ledger.RecordInput{ID: "a", Kind: ledger.KindGoal, Text: "t", Source: "s"}
		if _, _, err := ledger.New(newUUID()).Record(in, ledger.At{Now: time.Now(), Branch: branch}); err != nil {
			t.Errorf("a branch with %U is read and can't be stored: %v", r, err)
		}
	}
	if tried < 500 || stored < 50 {
		t.Errorf("tried %d, stored %d: too few to prove anything", tried, stored)
	}
}
