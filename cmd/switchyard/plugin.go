package main

import (
	"github.com/spf13/cobra"
)

func newPluginCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plugin",
		Short: "Inspect, test and write the plugins that read reports",
		Long: `A plugin turns the report of one tool into findings. It is a WebAssembly module
that runs in a sandbox: it sees only the report and its own settings, and the host
checks that it accounts for every item of the report.

A PLUGIN argument is one of
  the name of an installed plugin: built in, or one of the project
  the path of a module: a .wasm file, with a slash or the suffix in it

A project adds plugins by listing their files, or folders of them, under
plugin_paths in switchyard.yaml. Each must be pinned in switchyard.lock, which
switchyard plugin lock writes: a file that is not pinned, or differs from the
lock, is refused. The settings of a plugin are under plugins, by its name.`,
		Example: `  switchyard plugin list
  switchyard plugin run auto report.json
  switchyard plugin new --lang go my-linter
  switchyard plugin test my-linter/my-linter.wasm --corpus my-linter/corpus`,
		Args: unknownCommand,
		RunE: showHelp,
	}
	cmd.AddCommand(
		newPluginListCmd(a),
		newPluginInspectCmd(a),
		newPluginRunCmd(a),
		newPluginTestCmd(a),
		newPluginBenchCmd(a),
		newPluginNewCmd(a),
		newPluginLockCmd(a),
	)
	return cmd
}
