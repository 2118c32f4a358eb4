// Package durable holds the verbs for content that must survive: write a file,
// publish one that must not exist yet, stream into one, write several in order,
// keep verified snapshots, and set damaged things aside without losing them.
//
// A nil error means that the new content is there after power loss at any later
// moment, as far as the [fsx.Receipt] says that the filesystem can promise it.
// An error is an [fsx.PublishError] that says whether the new content may
// already be visible; unless it is, the old content stands. Nothing in this
// package removes or overwrites bytes that it has not verified or preserved.
//
// Paths are relative to an [fsx.Root] and slash-separated, and no element may be
// a link. Directories are not made on the way: make them with
// [fsx.Root.MkdirAll], which makes them durable too.
//
//	root, err := fsx.OpenRoot(dir)
//	receipt, err := durable.WriteFile(ctx, root, "state.json", data, durable.Options{})
//
// Not promised: anything beyond the filesystem's own guarantee (see
// [fsx.Guarantee]), exclusion between writers (that is package lockx), and
// files larger than memory except through [Create].
package durable
