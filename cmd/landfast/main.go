// Command landfast writes files durably and keeps the project handoff ledger.
// It parses, calls the packages and prints; it has no rules of its own.
package main

import (
	"io"
	"os"
)

func main() {
	os.Exit(run(os.Args[1:], app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv}))
}

// app is what a command may touch besides files.
type app struct {
	globals
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	getenv func(string) string
}
