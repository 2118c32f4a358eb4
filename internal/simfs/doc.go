// Package simfs is a filesystem in memory that loses power. It implements
// fsops.Table, so the code that ships runs on it: fsx, durable, lockx, handoff.
//
// Every change is live at once and durable later. What a file sync has not
// covered may survive a crash in any part, as nothing, or as zeros of the new
// length; what a directory sync has not covered may survive in any subset of its
// entries. [FS.Crashes] enumerates the disks that a power cut may leave now, each
// as a fresh FS on which recovery can run and be cut again. A [Tap] stands
// between code and FS: it records the operations, fails or skips one of them,
// and calls back before each, which is where crashes are taken.
//
// [Sweep], [CrashEvery] and [Mutants] drive one operation of the code under test
// through all of it. The models follow research on what POSIX allows and what
// ext4, XFS and btrfs were measured to do; real ones are stronger than [Weak].
package simfs
