package procid

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

func bootID() string { return firstLine("/proc/sys/kernel/random/boot_id") }

func machineID() string {
	if id := firstLine("/etc/machine-id"); id != "" && id != "uninitialized" {
		return id
	}
	return firstLine("/var/lib/dbus/machine-id")
}

func machineSalt(host string) string { return host }

func pidNamespace() uint64 {
	var st unix.Stat_t
	if err := unix.Stat("/proc/self/ns/pid", &st); err != nil {
		return 0
	}
	return st.Ino
}

// lookup asks kill first: under hidepid a directory in /proc is missing for
// processes that run, and kill answers EPERM for them.
func lookup(pid int) process {
	if err := unix.Kill(pid, 0); errors.Is(err, unix.ESRCH) {
		return process{state: missing}
	}
	// A /proc of another pid namespace (unshare without a new mount) shows
	// other processes under the same numbers.
	if link, err := os.Readlink("/proc/self"); err != nil || link != strconv.Itoa(os.Getpid()) {
		return process{}
	}
	dir := "/proc/" + strconv.Itoa(pid)
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return process{} // gone since, or hidden: a second look by the caller will tell
	}
	state, start, ok := parseStat(stat)
	if !ok {
		return process{}
	}
	if state == 'Z' || state == 'X' {
		// A main thread that ended shows as a zombie while its other threads run on.
		if tasks, err := os.ReadDir(dir + "/task"); err == nil && len(tasks) <= 1 {
			return process{state: missing}
		}
	}
	return process{state: running, start: start}
}

// parseStat reads state (field 3) and starttime (field 22) of proc_pid_stat(5).
// The command in field 2 may hold spaces and parentheses; the last ")" ends it.
func parseStat(stat []byte) (state byte, start uint64, ok bool) {
	i := bytes.LastIndexByte(stat, ')')
	if i < 0 {
		return 0, 0, false
	}
	f := strings.Fields(string(stat[i+1:]))
	if len(f) < 20 {
		return 0, 0, false
	}
	start, err := strconv.ParseUint(f[19], 10, 64)
	return f[0][0], start, err == nil
}

func firstLine(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimSpace(line)
}
