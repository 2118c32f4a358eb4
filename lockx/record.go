package lockx

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash/crc32"
	"strconv"
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

// header fills the file up to the slot and explains it to whoever opens it.
const header = "landfast lock file; it never needs removing; its last owner:   \n"

// Record is what the holder of an exclusive lock says of itself. It is written
// without a sync and never trusted to decide who holds the lock. Shared holders
// leave none.
type Record struct {
	Generation uint64 // counts the exclusive holders; starts again if the record is lost
	Token      string // 32 hex digits, new for each acquisition
	Held       bool   // false once the holder released the lock

	PID     int
	Start   uint64 // when the process started, in its system's own unit; 0 unknown
	Boot    string // hash of the boot id; "" unknown or not needed (Windows)
	PIDNS   uint64 // pid namespace on Linux, else 0
	Machine string // hash; "" unknown
	Host    string // host name, only for people
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
	Start    uint64    `json:"start"`
	Boot     string    `json:"boot"`
	PIDNS    uint64    `json:"pidns"`
	Machine  string    `json:"machine"`
	Host     string    `json:"host"`
	Exe      string    `json:"exe"`
	Purpose  string    `json:"purpose"`
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
	r.Host, r.Exe, r.Purpose = clip(r.Host), clip(r.Exe), clip(r.Purpose)
	r.Boot, r.Machine = clip(r.Boot), clip(r.Machine)
	slot := make([]byte, 0, slotSize)
	// Escaping can make the texts longer than the slot: the least useful go first.
	for _, drop := range []*string{nil, &r.Exe, &r.Host, &r.Purpose, &r.Boot, &r.Machine} {
		if drop != nil {
			*drop = ""
		}
		slot = appendRecord(append(slot[:0], "00000000 "...), r)
		if len(slot) < slotSize {
			break
		}
	}
	putChecksum(slot, checksum(slot[bodyAt:]))
	slot = append(slot, '\n')
	for len(slot) < slotSize-1 {
		slot = append(slot, ' ')
	}
	return append(slot, '\n')
}

// bodyAt is where the JSON begins in the slot.
const bodyAt = 9

// appendRecord writes the JSON of wireRecord by hand: the lock is taken for
// every write of a ledger, and encoding/json costs more than all its system calls.
func appendRecord(b []byte, r Record) []byte {
	b = append(b, `{"v":1,"state":"`...)
	if r.Held {
		b = append(b, stateHeld...)
	} else {
		b = append(b, stateReleased...)
	}
	b = strconv.AppendUint(append(b, `","gen":`...), r.Generation, 10)
	b = appendText(b, "token", r.Token)
	b = strconv.AppendInt(append(b, `,"pid":`...), int64(r.PID), 10)
	b = strconv.AppendUint(append(b, `,"start":`...), r.Start, 10)
	b = appendText(b, "boot", r.Boot)
	b = strconv.AppendUint(append(b, `,"pidns":`...), r.PIDNS, 10)
	b = appendText(b, "machine", r.Machine)
	b = appendText(b, "host", r.Host)
	b = appendText(b, "exe", r.Exe)
	b = appendText(b, "purpose", r.Purpose)
	at := r.Acquired.UTC()
	if y := at.Year(); y < 0 || y > 9999 {
		at = time.Time{} // RFC 3339 has four digits
	}
	b = at.AppendFormat(append(b, `,"acquired":"`...), "2006-01-02T15:04:05.999Z")
	return append(b, `"}`...)
}

// appendText appends a member. The text went through clip, so only two
// characters need an escape.
func appendText(b []byte, key, text string) []byte {
	b = append(append(append(b, `,"`...), key...), `":"`...)
	for i := range len(text) {
		if c := text[i]; c == '"' || c == '\\' {
			b = append(b, '\\')
		}
		b = append(b, text[i])
	}
	return append(b, '"')
}

// releasedGeneration reads the generation of a record that says "released", the
// usual predecessor, of which nothing else is of interest.
func releasedGeneration(slot []byte) (uint64, bool) {
	body, ok := recordBody(slot)
	if !ok {
		return 0, false
	}
	body, ok = bytes.CutPrefix(body, []byte(`{"v":1,"state":"released","gen":`))
	end := bytes.IndexByte(body, ',')
	if !ok || end < 0 {
		return 0, false
	}
	gen, err := strconv.ParseUint(string(body[:end]), 10, 64)
	return gen, err == nil
}

// recordBody gives the JSON if its checksum is right.
func recordBody(slot []byte) ([]byte, bool) {
	line, _, ok := bytes.Cut(slot, []byte{'\n'})
	if !ok || len(line) <= bodyAt || len(slot) > slotSize {
		return nil, false
	}
	var want [bodyAt]byte
	want[bodyAt-1] = ' '
	putChecksum(want[:], checksum(line[bodyAt:]))
	return line[bodyAt:], bytes.Equal(line[:bodyAt], want[:])
}

func putChecksum(b []byte, sum uint32) {
	var raw [4]byte
	binary.BigEndian.PutUint32(raw[:], sum)
	hex.Encode(b, raw[:])
}

// decodeRecord reads a slot; a short one is what a short file has. The errors
// are errNoRecord (nothing was ever written) and errDamagedRecord.
func decodeRecord(slot []byte) (Record, error) {
	if strings.Trim(string(slot), "\x00 \n") == "" {
		return Record{}, errNoRecord
	}
	body, ok := recordBody(slot)
	if !ok {
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

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

func isToken(s string) bool {
	return len(s) == 32 && strings.Trim(s, "0123456789abcdef") == ""
}

// clip cuts text to maxText bytes and replaces what could act on a terminal or
// reorder a line (control, format and direction characters).
func clip(s string) string {
	if len(s) <= maxText && isPlain(s) {
		return s
	}
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

// isPlain reports whether s is printable ASCII only.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}
