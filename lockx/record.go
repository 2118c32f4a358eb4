package lockx

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/landfast/landfast/internal/procid"
)

// The layout of a lock file. Byte 0 is the locked byte (LockFileEx makes it
// unreadable while it is held, gofrs/flock locks the same one); the record lies
// behind the header so that it can be read at any time.
const (
	slotAt   = 64
	slotSize = 512
	fileSize = slotAt + slotSize

	maxText       = 64 // bytes of purpose, host and executable each
	recordVersion = 1
	stateHeld     = "held"
	stateReleased = "released"
)

// header begins the file and explains it to whoever opens it; spaces and a line
// feed fill it up to the slot.
const header = "landfast lock file; it never needs removing; last owner:"

// Record is what the holder of an exclusive lock says of itself. It is written
// without a sync and never trusted to decide who holds the lock. Shared holders
// leave none.
type Record struct {
	Generation uint64 // counts the exclusive holders; starts again if the record is lost
	Token      string // 32 hex digits, new for each acquisition
	Held       bool   // false once the holder released the lock

	PID     int
	Start   uint64 // see the process id: 0 unknown
	Boot    string
	PIDNS   uint64
	Machine string
	Host    string
	Exe     string // base name of the program

	Purpose  string
	Acquired time.Time
}

// Judge reports whether the process of the record runs, for messages and for
// locks that the kernel doesn't keep. Unknown must never be taken for dead.
func (r Record) Judge() (Verdict, string) {
	return procid.Judge(procid.ID{PID: r.PID, Start: r.Start, Boot: r.Boot, PIDNS: r.PIDNS, Machine: r.Machine})
}

// Verdict is what is known about the process of a [Record].
type Verdict = procid.Verdict

// The verdicts.
const (
	Unknown = procid.Unknown
	Live    = procid.Live
	Dead    = procid.Dead
)

// wireRecord is the JSON of a Record.
type wireRecord struct {
	V        int       `json:"v"`
	State    string    `json:"state"`
	Gen      uint64    `json:"gen"`
	Token    string    `json:"token"`
	PID      int       `json:"pid"`
	Start    uint64    `json:"start,omitempty"`
	Boot     string    `json:"boot,omitempty"`
	PIDNS    uint64    `json:"pidns,omitempty"`
	Machine  string    `json:"machine,omitempty"`
	Host     string    `json:"host,omitempty"`
	Exe      string    `json:"exe,omitempty"`
	Purpose  string    `json:"purpose,omitempty"`
	Acquired time.Time `json:"acquired"`
}

var (
	errNoRecord      = errors.New("no owner record")
	errDamagedRecord = errors.New("damaged owner record")
)

// encodeRecord makes the 512 bytes of the slot: CRC-32C of the JSON in hex, a
// space, the JSON, a line feed and spaces. The checksum tells a torn or mixed
// write apart; the fixed size means that nothing of an older record shows through.
func encodeRecord(r Record) []byte {
	w := wireRecord{
		V: recordVersion, State: stateReleased, Gen: r.Generation, Token: r.Token,
		PID: r.PID, Start: r.Start, Boot: clip(r.Boot), PIDNS: r.PIDNS, Machine: clip(r.Machine),
		Host: clip(r.Host), Exe: clip(r.Exe), Purpose: clip(r.Purpose),
		Acquired: r.Acquired.UTC().Truncate(time.Millisecond),
	}
	if r.Held {
		w.State = stateHeld
	}
	body := marshal(w)
	// Escaping can make the texts longer than the slot: the least useful go first.
	for _, drop := range []*string{&w.Exe, &w.Host, &w.Purpose} {
		if len(body) <= slotSize-10 {
			break
		}
		*drop = ""
		body = marshal(w)
	}
	slot := bytes.Repeat([]byte{' '}, slotSize)
	n := copy(slot, fmt.Sprintf("%08x ", checksum(body)))
	n += copy(slot[n:], body)
	slot[n], slot[slotSize-1] = '\n', '\n'
	return slot
}

// decodeRecord reads a slot; a short one is what a short file has. The errors
// are errNoRecord (nothing was ever written) and errDamagedRecord.
func decodeRecord(slot []byte) (Record, error) {
	if strings.Trim(string(slot), "\x00 \n") == "" {
		return Record{}, errNoRecord
	}
	line, _, ok := bytes.Cut(slot, []byte{'\n'})
	if !ok || len(line) < 10 || len(slot) > slotSize {
		return Record{}, errDamagedRecord
	}
	body := line[9:]
	if string(line[:9]) != fmt.Sprintf("%08x ", checksum(body)) {
		return Record{}, errDamagedRecord
	}
	var w wireRecord
	dec := json.NewDecoder(bytes.NewReader(body))
	if err := dec.Decode(&w); err != nil || dec.More() {
		return Record{}, errDamagedRecord
	}
	if w.V != recordVersion || w.State != stateHeld && w.State != stateReleased || !isToken(w.Token) || w.PID <= 0 {
		return Record{}, errDamagedRecord
	}
	// Whoever may write the file chose these texts, and they end in a terminal.
	return Record{
		Generation: w.Gen, Token: w.Token, Held: w.State == stateHeld,
		PID: w.PID, Start: w.Start, Boot: clip(w.Boot), PIDNS: w.PIDNS, Machine: clip(w.Machine),
		Host: clip(w.Host), Exe: clip(w.Exe), Purpose: clip(w.Purpose), Acquired: w.Acquired,
	}, nil
}

func marshal(w wireRecord) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(w); err != nil {
		// Only a time outside the years 0 to 9999 can do this.
		w.Acquired = time.Time{}
		b.Reset()
		_ = enc.Encode(w)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

func isToken(s string) bool {
	return len(s) == 32 && strings.Trim(s, "0123456789abcdef") == ""
}

// clip cuts text to maxText bytes and replaces what could act on a terminal or
// reorder a line (control, format and direction characters).
func clip(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r == utf8.RuneError || r >= 0x200b && r <= 0x200f ||
			r >= 0x2028 && r <= 0x202e || r >= 0x2060 && r <= 0x206f || r == 0xfeff || r == 0x061c {
			r = '?'
		}
		if b.Len()+utf8.RuneLen(r) > maxText {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}
