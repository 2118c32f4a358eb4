package lockx

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func testRecord() Record {
	return Record{
		Generation: 7, Token: strings.Repeat("a", 32), Held: true, PID: 4711, Start: 99, Boot: "0123456789abcdef",
		PIDNS: 4026531836, Machine: "fedcba9876543210", Host: "host.example", Exe: "landfast",
		Purpose: "record a task", Acquired: time.Date(2026, 11, 30, 12, 0, 0, 5e6, time.UTC),
	}
}

func TestRecordSurvivesItsSlot(t *testing.T) {
	plain, released, rich := testRecord(), testRecord(), testRecord()
	released.Held = false
	rich.Purpose = "grüße <a>&\"b\""
	for _, r := range []Record{plain, released, rich} {
		slot := encodeRecord(r)
		if len(slot) != slotSize {
			t.Errorf("slot of %d bytes", len(slot))
		}
		if got, err := decodeRecord(slot); err != nil || got != r {
			t.Errorf("decoded %+v, %v; want %+v", got, err, r)
		}
	}
}

func TestRecordFitsWhateverTheTexts(t *testing.T) {
	for _, s := range []string{
		strings.Repeat(`"`, 500), strings.Repeat("\\", 64), strings.Repeat("世", 64), strings.Repeat("\u2028", 64), "\x1b[2J\x00\u202e", "\xff\xfe",
	} {
		r := testRecord()
		r.Purpose, r.Host, r.Exe, r.Boot, r.Machine = s, s, s, strings.Repeat("f", 16), strings.Repeat("e", 16)
		r.Generation, r.Start, r.PIDNS, r.PID = 1<<64-1, 1<<64-1, 1<<64-1, 1<<31-1
		got, err := decodeRecord(encodeRecord(r))
		if err != nil {
			t.Errorf("texts %.20q: %v", s, err)
			continue
		}
		if got.Generation != r.Generation || got.Token != r.Token || got.Boot != r.Boot || got.PIDNS != r.PIDNS {
			t.Errorf("texts %.20q cost a field: %+v", s, got)
		}
		if len(got.Purpose) > maxText || !utf8.ValidString(got.Purpose) || strings.ContainsAny(got.Purpose, "\x1b\x00\u202e\u2028") {
			t.Errorf("purpose %q", got.Purpose)
		}
	}
}

func TestHeaderLeavesRoomForItself(t *testing.T) {
	if h := header; len(h) != slotAt || h[slotAt-1] != '\n' {
		t.Errorf("header is %q, %d bytes", h, len(h))
	}
}

func FuzzDecodeRecord(f *testing.F) {
	good := encodeRecord(testRecord())
	f.Add(good)
	f.Add(good[:100])
	f.Add(make([]byte, slotSize))
	f.Add([]byte{})
	f.Add([]byte("00000000 {}\n"))
	f.Add(bytes.Replace(good, []byte("4711"), []byte("4712"), 1))
	f.Fuzz(func(t *testing.T, slot []byte) {
		r, err := decodeRecord(slot)
		if err != nil {
			if r != (Record{}) {
				t.Errorf("an error comes with the record %+v", r)
			}
			return
		}
		again, err := decodeRecord(encodeRecord(r))
		r.Acquired = r.Acquired.UTC().Truncate(time.Millisecond)
		if err != nil || again.Token != r.Token || again.PID != r.PID || again.Held != r.Held || !again.Acquired.Equal(r.Acquired) {
			t.Errorf("%+v becomes %+v, %v", r, again, err)
		}
	})
}

// FuzzRecordTexts reaches behind the checksum.
func FuzzRecordTexts(f *testing.F) {
	f.Add("save", "host", "prog", uint64(1))
	f.Add("\x1b[31m", strings.Repeat("\"", 64), "\u202e", uint64(1<<63))
	f.Fuzz(func(t *testing.T, purpose, host, exe string, gen uint64) {
		r := testRecord()
		r.Purpose, r.Host, r.Exe, r.Generation = purpose, host, exe, gen
		got, err := decodeRecord(encodeRecord(r))
		if err != nil || got.Generation != gen || got.Token != r.Token {
			t.Errorf("%+v becomes %+v, %v", r, got, err)
		}
	})
}
