package lockx_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/lockx"
)

func ExampleAcquire() {
	path, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(path)
	root, err := fsx.OpenRoot(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer root.Close()
	dir, err := root.Dir(".")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dir.Close()

	ctx := context.Background()
	h, err := lockx.Acquire(ctx, dir, "state.lock", lockx.Options{Purpose: "save"})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, crashed := h.Recovered(); crashed {
		fmt.Println("repair what the last holder left half done")
	}

	_, err = lockx.Acquire(ctx, dir, "state.lock", lockx.Options{Timeout: -1})
	var busy *lockx.BusyError
	if errors.As(err, &busy) {
		fmt.Println("busy:", busy.Holder.Purpose)
	}
	fmt.Println("release:", h.Release())
	// Output:
	// busy: save
	// release: <nil>
}
