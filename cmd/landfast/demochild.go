package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/landfast/landfast/durable"
	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/lockx"
)

// demoChild is the hidden first argument that makes this program one of the
// demo's victims.
const demoChild = "demo-child"

func runDemoChild(args []string, a app) int {
	if len(args) != 3 {
		return 2
	}
	go func() {
		_, _ = io.Copy(io.Discard, a.stdin) // ends when the parent is gone
		os.Exit(0)
	}()
	var err error
	switch args[0] {
	case "writer":
		err = demoWriter(args[1], args[2], a.stdout)
	case "holder":
		err = demoHolder(args[1], a.stdout)
	default:
		return 2
	}
	fmt.Fprintln(a.stderr, err)
	return 1
}

// demoWriter writes one version after the other until it is killed.
func demoWriter(dir, last string, out io.Writer) error {
	version, err := strconv.Atoi(last)
	if err != nil {
		return err
	}
	root, err := fsx.OpenRoot(dir)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "ready")
	for {
		version++
		if _, err := durable.WriteFile(context.Background(), root, demoFile, demoContent(version), durable.Options{}); err != nil {
			return err
		}
	}
}

// demoHolder takes the ledger's lock and keeps it.
func demoHolder(projectRoot string, out io.Writer) error {
	root, err := fsx.OpenRoot(projectRoot)
	if err != nil {
		return err
	}
	dir, err := root.Dir(".landfast")
	if err != nil {
		return err
	}
	lock, err := lockx.Acquire(context.Background(), dir, "ledger.lock", lockx.Options{Purpose: "demo holder"})
	if err != nil {
		return err
	}
	defer lock.Release()
	fmt.Fprintln(out, "ready")
	select {}
}

// demoContent verifies itself: version, digest, and a body of some blocks.
func demoContent(version int) []byte {
	body := bytes.Repeat(fmt.Appendf(nil, "version %d\n", version), 2000)
	sum := sha256.Sum256(body)
	return append(fmt.Appendf(nil, "%d %s\n", version, hex.EncodeToString(sum[:])), body...)
}

func checkDemoContent(data []byte) (int, error) {
	var version int
	var digest string
	if _, err := fmt.Sscanf(string(data), "%d %s\n", &version, &digest); err != nil {
		return 0, fmt.Errorf("the file is torn: %d bytes without a header", len(data))
	}
	if !bytes.Equal(data, demoContent(version)) {
		return 0, fmt.Errorf("the file is torn: version %d, %d bytes", version, len(data))
	}
	return version, nil
}
