// Package landfast is the root of a module that keeps files where they landed.
//
// The packages below it, each for one question:
//
//   - [github.com/landfast/landfast/fsx]: how does a file get into its place,
//     and what is that worth after a power loss?
//   - [github.com/landfast/landfast/lockx]: who holds what, and are they alive?
//   - [github.com/landfast/landfast/durable]: how does state survive? Whole-file
//     writes, snapshots, quarantine.
//   - [github.com/landfast/landfast/handoff]: what does the next coding agent
//     need to know? The project ledger, built on the three above.
//   - cmd/landfast: the command line of all of them.
//
// ARCHITECTURE.md holds the order in which they may import each other, and the
// numbered invariants that their tests name.
package landfast
