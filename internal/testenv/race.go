//go:build race

package testenv

// Race reports whether the race detector is built in: tests that enumerate
// states then do a part of them, because the detector makes each ten times as
// dear and looks for something else.
const Race = true
