// Package procid names a process so that somebody else can later tell whether
// it still runs.
//
// A process id alone can't: it is used again within minutes on a busy machine,
// means something else in every container, and survives in files across
// reboots and on shared disks. An [ID] adds when the process started, in which
// boot, in which pid namespace and on which machine. [Judge] answers Live or
// Dead only where that is certain; everything else is Unknown, and Unknown must
// never be taken for Dead.
package procid

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"sync"
)

// ID identifies one process. The zero value identifies none.
type ID struct {
	PID     int
	Start   uint64 // when it started: ticks since boot (Linux), wall clock at the start (elsewhere, stored by the kernel); 0 unknown
	Boot    string // hash of the boot id; "" where the platform needs none or it is unknown
	PIDNS   uint64 // pid namespace (Linux); 0 elsewhere or unknown
	Machine string // hash of the machine's id; "" unknown
	Host    string // for people only: host names change and repeat
}

// Verdict is what is known about a process.
type Verdict uint8

// The verdicts. The zero value is the one that must not lead to any action.
const (
	Unknown Verdict = iota
	Live
	Dead
)

// String names the verdict in lower case.
func (v Verdict) String() string {
	switch v {
	case Live:
		return "live"
	case Dead:
		return "dead"
	}
	return "unknown"
}

// A container image may carry a machine id and a cloned virtual machine always
// does, so the host name is mixed into it: a wrong "same machine" could declare
// a live process dead, a wrong "other machine" only says Unknown.
var self = sync.OnceValue(func() ID {
	id := ID{PID: os.Getpid()}
	id.Host, _ = os.Hostname()
	id.Boot = hash("boot", bootID())
	if m := machineID(); m != "" {
		id.Machine = hash("machine", m+"\n"+machineSalt(id.Host))
	}
	id.PIDNS = pidNamespace()
	if p := lookup(id.PID); p.state == running {
		id.Start = p.start
	}
	return id
})

// Self identifies the calling process. It is computed at the first call and
// costs some ten microseconds then.
func Self() ID { return self() }

// Judge reports whether the process runs, and why it says so. The process may
// end right after a Live; a Dead stays true.
func Judge(id ID) (Verdict, string) { return judge(Self(), id) }

func judge(me, id ID) (Verdict, string) {
	if id.PID <= 0 {
		return Unknown, "no process id recorded"
	}
	switch {
	case sameHash(id.Boot, me.Boot):
		// A boot id is unique in the world: same boot, same machine.
	case !sameHash(id.Machine, me.Machine):
		return Unknown, "recorded on another machine"
	case id.Boot != "" && me.Boot != "":
		return Dead, "the machine was started again since"
	case id.Boot != me.Boot:
		return Unknown, "the boot was not recorded"
	}
	if id.PIDNS != me.PIDNS {
		return Unknown, "recorded in another pid namespace"
	}
	switch p := lookup(id.PID); {
	case p.state == missing:
		return Dead, "no such process"
	case p.state == hidden, p.start == 0, id.Start == 0:
		return Unknown, "a process has this id, when it started can't be told"
	case p.start != id.Start:
		return Dead, "the process id was given to another process"
	}
	return Live, "the process runs"
}

// existence is what lookup learned.
type existence uint8

const (
	hidden  existence = iota // something has the id, or nothing can be told
	missing                  // certainly no such process
	running                  // it exists and start is what the system says
)

type process struct {
	state existence
	start uint64
}

// hash makes 16 hex digits that don't give the id itself away: systemd asks
// that the machine id never leaves the machine.
func hash(purpose, s string) string {
	if s == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("landfast " + purpose + "\n" + s))
	return hex.EncodeToString(sum[:8])
}

// sameHash compares two hashes of which one may be the short form of a tag.
func sameHash(a, b string) bool {
	if len(a) < shortHash || len(b) < shortHash {
		return false
	}
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}
