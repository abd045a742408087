package main

import (
	"context"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/policies"
)

// buildInfo is the output of version.
type buildInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitzero"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Policy   string `json:"policy"`
}

func newVersionCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the version",
		Args:  noArgs,
		RunE:  a.runE(func(context.Context, []string) error { return a.printVersion() }),
	}
}

func (a *app) printVersion() error {
	info := readBuildInfo()
	return show(a, info, func(p *render.Printer, b buildInfo) {
		p.Line("switchyard %s (%s, %s, default policy %s)", b.Version, b.Go, b.Platform, b.Policy)
	})
}

// readBuildInfo reads the version that the Go toolchain recorded in the binary.
func readBuildInfo() buildInfo {
	info := buildInfo{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Policy: policies.Default}
	if build, ok := debug.ReadBuildInfo(); ok {
		if build.Main.Version != "" {
			info.Version = build.Main.Version
		}
		for _, s := range build.Settings {
			if s.Key == "vcs.revision" {
				info.Revision = s.Value
			}
		}
	}
	return info
}
