package procid

import (
	"math"
	"strconv"
	"strings"
)

// shortHash is how many hex digits of a hash a tag carries.
const shortHash = 8

// Tag is a short form for file names: machine, boot, pid namespace, pid and
// start, joined by "-", of the characters [0-9a-z-] and at most 48 long. It
// leaves out the host name and half of each hash.
func (id ID) Tag() string {
	// Linux numbers namespaces with 32 bits; the mask only keeps the length.
	return strings.Join([]string{
		short(id.Machine), short(id.Boot),
		strconv.FormatUint(id.PIDNS&math.MaxUint32, 36),
		strconv.FormatUint(uint64(uint32(id.PID)), 36),
		strconv.FormatUint(id.Start, 36),
	}, "-")
}

// ParseTag reads what [ID.Tag] wrote, for [Judge]; ok is false for anything else.
func ParseTag(s string) (id ID, ok bool) {
	f := strings.Split(s, "-")
	if len(s) > 48 || len(f) != 5 {
		return ID{}, false
	}
	ns, err1 := strconv.ParseUint(f[2], 36, 32)
	pid, err2 := strconv.ParseUint(f[3], 36, 32)
	start, err3 := strconv.ParseUint(f[4], 36, 64)
	if err1 != nil || err2 != nil || err3 != nil || !isShort(f[0]) || !isShort(f[1]) ||
		pid == 0 || pid > math.MaxInt32 {
		return ID{}, false
	}
	id = ID{PID: int(pid), Start: start, PIDNS: ns, Machine: long(f[0]), Boot: long(f[1])}
	// Only the one spelling: names are compared as strings elsewhere.
	return id, id.Tag() == s
}

// none stands for an unknown hash.
const none = "00000000"

func short(h string) string {
	if len(h) < shortHash {
		return none
	}
	return h[:shortHash]
}

func long(h string) string {
	if h == none {
		return ""
	}
	return h
}

func isShort(h string) bool {
	return len(h) == shortHash && strings.Trim(h, "0123456789abcdef") == ""
}
