package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/host"
)

func newPluginLockCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lock",
		Short: "Pin the project's plugins in switchyard.lock",
		Long: `Lock loads every plugin that plugin_paths in switchyard.yaml names, and writes
the digests of their files to switchyard.lock beside it. From then on only these
very files are used: one that was changed, or added to a folder, is refused until
the plugins are locked again.

It prints the pins and what changed against the lock that there was. Commit the
lock, and review its changes like those of code: a plugin decides what counts as
a finding.`,
		Example: `  switchyard plugin lock
  switchyard plugin lock --output json | jq .changes`,
		Args: noArgs,
	}
	cmd.RunE = a.runE(func(ctx context.Context, _ []string) error {
		return answer(ctx, a, func(e *host.Engine) (render.LockView, error) {
			l, err := e.Plugins().Lock(ctx)
			return render.NewLockView(l), err
		}, (*render.Printer).PluginLock)
	})
	return cmd
}
