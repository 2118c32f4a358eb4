package fsx_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/internal/simfs"
)

// exampleDir is a directory in memory; a program calls fsx.OpenRoot(path) and
// then Dir.
func exampleDir() *fsx.Dir {
	root, err := fsx.OpenRootOn(simfs.New(simfs.Weak), "/")
	if err != nil {
		log.Fatal(err)
	}
	dir, err := root.Dir(".")
	if err != nil {
		log.Fatal(err)
	}
	return dir
}

func ExampleTemp() {
	dir := exampleDir()
	defer dir.Close()
	t, err := dir.CreateTemp("state.json", fsx.Options{Mode: 0o600})
	if err != nil {
		log.Fatal(err)
	}
	defer t.Abort() // does nothing once the file is in its place
	fmt.Fprint(t, `{"n": 1}`)
	receipt, err := t.Replace(context.Background())
	var pe *fsx.PublishError
	if errors.As(err, &pe) {
		log.Fatal(pe.State, pe.Err) // what is under the name now, and why
	}
	data, err := dir.ReadFile("state.json", 1<<10)
	fmt.Println(receipt.Guarantee, string(data), err)
	// Output: durable {"n": 1} <nil>
}

func ExampleDir_Sweep() {
	dir := exampleDir()
	defer dir.Close()
	// A staged file of a writer that still lives, this one, stays.
	t, err := dir.CreateTemp("state.json", fsx.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer t.Abort()
	swept, err := dir.Sweep(fsx.SweepOptions{})
	fmt.Println(len(swept.Removed), "removed,", len(swept.Kept), "kept,", err)
	// Output: 0 removed, 1 kept, <nil>
}
