package procid

import (
	"encoding/hex"
	"errors"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// bootID prefers the session's uuid: the boot time moves with every clock step.
func bootID() string {
	if s, err := unix.Sysctl("kern.bootsessionuuid"); err == nil && s != "" {
		return s
	}
	tv, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return ""
	}
	return strconv.FormatInt(tv.Sec, 10)
}

// machineID is the host uuid of gethostuuid(3).
func machineID() string {
	var uuid [16]byte
	wait := unix.Timespec{Sec: 1}
	//lint:ignore SA1019 gethostuuid(3) has no wrapper in x/sys, and calling libSystem otherwise needs cgo
	_, _, errno := unix.Syscall(unix.SYS_GETHOSTUUID, uintptr(unsafe.Pointer(&uuid)), uintptr(unsafe.Pointer(&wait)), 0)
	if errno != 0 || uuid == [16]byte{} {
		return ""
	}
	return hex.EncodeToString(uuid[:])
}

// machineSalt is nothing: a Mac's host name changes with the network, and the
// host uuid belongs to the hardware.
func machineSalt(string) string { return "" }

func pidNamespace() uint64 { return 0 }

const zombie = 5 // SZOMB of sys/proc.h

func lookup(pid int) process {
	if err := unix.Kill(pid, 0); errors.Is(err, unix.ESRCH) {
		return process{state: missing}
	}
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return process{}
	}
	if k.Proc.P_stat == zombie {
		return process{state: missing}
	}
	tv := k.Proc.P_starttime
	return process{state: running, start: uint64(tv.Sec)*1e6 + uint64(tv.Usec)}
}
