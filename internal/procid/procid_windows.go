package procid

import (
	"errors"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

// bootID is not needed: a creation time is wall clock in units of 100 ns that
// the kernel stores once, so pid and creation time are unique across boots.
func bootID() string { return "" }

func machineID() string {
	k, err := registry.OpenKey(registry.LOCAL_MACHINE, `SOFTWARE\Microsoft\Cryptography`, registry.QUERY_VALUE|registry.WOW64_64KEY)
	if err != nil {
		return ""
	}
	defer k.Close()
	s, _, err := k.GetStringValue("MachineGuid")
	if err != nil {
		return ""
	}
	return s
}

// machineSalt: images are cloned with their MachineGuid.
func machineSalt(host string) string { return host }

func pidNamespace() uint64 { return 0 }

// lookup: ERROR_INVALID_PARAMETER says that there is no such process;
// ERROR_ACCESS_DENIED that there is one. An exit code can't tell whether a
// process ended (259 is a legal one), waiting for it can.
func lookup(pid int) process {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION|windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
			return process{state: missing}
		}
		return process{}
	}
	defer windows.CloseHandle(h)
	if ev, err := windows.WaitForSingleObject(h, 0); err == nil && ev == windows.WAIT_OBJECT_0 {
		return process{state: missing} // ended; somebody's handle keeps the id taken
	}
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &created, &exited, &kernel, &user); err != nil {
		return process{}
	}
	return process{state: running, start: uint64(created.HighDateTime)<<32 | uint64(created.LowDateTime)}
}
