package fsx

import "fmt"

// Step is one kind of filesystem operation, named in errors, degradations and
// [Classify].
type Step uint8

// The steps of putting a file in place.
const (
	StepOpen Step = iota
	StepCreate
	StepWrite
	StepChmod
	StepSync
	StepRename
	StepLink
	StepSyncDir
	StepUnlink
	StepMkdir
	StepStat
	StepList
	StepClose
)

var stepNames = [...]string{
	"open", "create", "write", "chmod", "sync", "rename", "link", "sync dir", "remove", "mkdir", "stat", "list", "close",
}

// String is the step's name as it begins an error message.
func (s Step) String() string {
	if int(s) < len(stepNames) {
		return stepNames[s]
	}
	return fmt.Sprintf("step %d", uint8(s))
}
