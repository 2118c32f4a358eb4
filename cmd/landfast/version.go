package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

type versionRoot struct {
	globals `embed:""`
	Version versionCmd `cmd:"" help:"Print version and build settings."`
}

func (r *versionRoot) common() globals       { return r.globals }
func (r *versionRoot) chosen(string) command { return &r.Version }

type versionCmd struct {
	JSON bool `name:"json" help:"Print as JSON."`
}

type versionJSON struct {
	Version  string            `json:"version"`
	Commit   string            `json:"commit"`
	Go       string            `json:"go"`
	Settings map[string]string `json:"settings"`
}

// readVersion takes everything from what the Go tool put into the binary.
func readVersion() versionJSON {
	v := versionJSON{Version: "unknown", Go: runtime.Version(), Settings: map[string]string{}}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Version = info.Main.Version
	for _, s := range info.Settings {
		v.Settings[s.Key] = s.Value
	}
	v.Commit = v.Settings["vcs.revision"]
	return v
}

func (c *versionCmd) run(a *app) error {
	v := readVersion()
	if c.JSON {
		return a.printJSON(v)
	}
	commit := v.Commit
	if commit == "" {
		commit = "commit unknown"
	}
	_, err := fmt.Fprintf(a.stdout, "landfast %s (%s, %s, %s/%s)\n", v.Version, commit, v.Go, runtime.GOOS, runtime.GOARCH)
	return err
}
