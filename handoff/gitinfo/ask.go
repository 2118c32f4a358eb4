package gitinfo

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"time"
)

// askLimit bounds each question to git.
const askLimit = 3 * time.Second

// ask is the fall-back for repositories whose refs are not in plain files.
func (i Info) ask(ctx context.Context) Info {
	if foreignOwner(i.TopLevel) || foreignOwner(i.GitDir) {
		// git would refuse; and nothing is started in what another user set up.
		return i.unreadable("refs are kept in a format that only git reads", errForeign)
	}
	git, err := exec.LookPath("git")
	if err != nil {
		return i.unreadable("refs are kept in a format that only git reads", err)
	}
	branch, berr := question(ctx, git, i.TopLevel, "symbolic-ref", "-q", "--short", "HEAD")
	head, herr := question(ctx, git, i.TopLevel, "rev-parse", "-q", "--verify", "HEAD^{commit}")
	if berr == nil && plainBranch(branch) {
		i.Branch = &branch
	}
	if herr == nil && isID(head) {
		i.Head = &head
	}
	switch {
	case i.Branch != nil && i.Head != nil:
		i.State = OK
	case i.Branch != nil:
		i.State = Unborn
	case i.Head != nil:
		i.State = Detached
	default:
		if herr == nil {
			herr = errFormat
		}
		return i.unreadable("git could not tell", herr)
	}
	return i
}

func question(ctx context.Context, git, dir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, git, append([]string{"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull}, args...)...)
	cmd.Dir = dir
	cmd.WaitDelay = time.Second
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GIT_") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0")
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}
