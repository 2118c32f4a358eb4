package durable_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"

	"github.com/landfast/landfast/durable"
	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/internal/simfs"
)

// exampleRoot is a directory in memory; a program calls fsx.OpenRoot(path).
func exampleRoot() *fsx.Root {
	root, err := fsx.OpenRootOn(simfs.New(simfs.Weak), "/")
	if err != nil {
		log.Fatal(err)
	}
	return root
}

func ExampleWriteFile() {
	root := exampleRoot()
	receipt, err := durable.WriteFile(context.Background(), root, "state.json", []byte("{}"), durable.Options{Mode: 0o600})
	if err != nil {
		log.Fatal(err) // the old content stands, unless the error's State says otherwise
	}
	fmt.Println(receipt.Guarantee)
	// Output: durable
}

func ExamplePublish() {
	root := exampleRoot()
	for range 2 {
		_, err := durable.Publish(context.Background(), root, "once", []byte("mine"), durable.Options{})
		fmt.Println(errors.Is(err, fs.ErrExist))
	}
	// Output:
	// false
	// true
}

func ExampleCreate() {
	root := exampleRoot()
	f, err := durable.Create(root, "report.txt", durable.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Abort() // does nothing after Commit
	for i := range 3 {
		fmt.Fprintln(f, "line", i)
	}
	_, err = f.Commit(context.Background())
	fmt.Println(err)
	// Output: <nil>
}

func ExampleSequence() {
	root := exampleRoot()
	dir, err := root.Dir(".")
	if err != nil {
		log.Fatal(err)
	}
	defer dir.Close()
	_, err = durable.Sequence(context.Background(), []durable.Write{
		{Dir: dir, Name: "data-2", Data: []byte("payload"), New: true},
		{Dir: dir, Name: "current", Data: []byte("data-2")}, // the commit point
	}, nil, durable.Options{})
	fmt.Println(err)
	// Output: <nil>
}

func ExampleSnapshots() {
	root := exampleRoot()
	dir, _, err := root.MkdirAll("snapshots", 0o700)
	if err != nil {
		log.Fatal(err)
	}
	defer dir.Close()
	snapshots := durable.OpenSnapshots(dir)
	name, _, err := snapshots.Put(context.Background(), 7, []byte("state at revision 7"), durable.Options{})
	if err != nil {
		log.Fatal(err)
	}
	data, err := snapshots.Read(name, 1<<20) // verified against its name
	fmt.Println(string(data), err)
	// Output: state at revision 7 <nil>
}

func ExampleQuarantine() {
	root := exampleRoot()
	dir, _, err := root.MkdirAll("quarantine", 0o700)
	if err != nil {
		log.Fatal(err)
	}
	defer dir.Close()
	kept, err := durable.OpenQuarantine(dir).Keep(context.Background(), "state.json", []byte("damaged"), "not valid JSON", durable.Options{})
	fmt.Println(kept.Kind, kept.Size, err)
	// Output: file 7 <nil>
}
