package main

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/landfast/landfast/internal/testenv"
)

// recordAtOnce records each ids "wW-I" from so many writers at a time, each record
// a process of its own. Only "conflict" and "busy" may be answered besides
// success, and are tried again.
func recordAtOnce(t *testing.T, dir string, writers, each int) {
	t.Helper()
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				for {
					r := runs(t, landfast(t, dir, "handoff", "record", "--json", input(fmt.Sprintf("w%d-%d", w, i))), nil)
					if r.status == 0 {
						break
					}
					if r.status != 3 && r.status != 4 {
						t.Errorf("exit %d: %s", r.status, r.errs)
						return
					}
				}
			}
		})
	}
	wg.Wait()
}

// The first record sets the ledger up, whoever makes it.
func TestTwoProcessesRecordingAtOnceLoseNothing(t *testing.T) {
	const writers, each = 2, 200
	dir := testenv.TempDir(t)
	recordAtOnce(t, dir, writers, each)
	var v struct {
		Revision int
		Records  []struct{ Revision int }
	}
	if err := json.Unmarshal([]byte(must(t, dir, "handoff", "resume", "--json")), &v); err != nil {
		t.Fatal(err)
	}
	if v.Revision != writers*each || len(v.Records) != writers*each {
		t.Fatalf("revision %d, %d records; want %d", v.Revision, len(v.Records), writers*each)
	}
	seen := map[int]bool{}
	for _, r := range v.Records {
		seen[r.Revision] = true
	}
	for rev := 1; rev <= v.Revision; rev++ {
		if !seen[rev] {
			t.Errorf("revision %d is missing", rev)
		}
	}
	must(t, dir, "handoff", "doctor")
}
