package main

import (
	"github.com/spf13/cobra"
)

func newPluginCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plugin",
		Short: "Look at, test and write the plugins that read reports",
		Long: `A plugin turns the report of one tool into findings. It is a WebAssembly module
that runs in a sandbox: it sees the report and its own settings, and nothing
else, and the host checks that it accounts for every item of the report.

Where a command takes a PLUGIN, that is
  the name of one that is installed: built in, or brought along by the project
  the path of a module: a .wasm file, with a slash or the suffix in it

A project brings plugins along by naming their files, or folders of them, under
plugin_paths in switchyard.yaml. Each has to be pinned in switchyard.lock, which
switchyard plugin lock writes: a file that is not pinned, or is another one than
the lock pins, is refused. The settings of a plugin stand under plugins, by its
name.`,
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
