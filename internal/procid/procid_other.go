//go:build !linux && !darwin && !windows

package procid

func bootID() string            { return "" }
func machineID() string         { return "" }
func machineSalt(string) string { return "" }
func pidNamespace() uint64      { return 0 }

// lookup can't tell here, so every verdict is Unknown.
func lookup(int) process { return process{} }
