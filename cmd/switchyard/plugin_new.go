package main

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/plugins/sdk/scaffold"
)

func newPluginNewCmd(a *app) *cobra.Command {
	var language scaffold.Language
	var name string
	cmd := &cobra.Command{
		Use:   "new --lang go|assemblyscript|c DIR",
		Short: "Start a new plugin, which builds and passes its tests at once",
		Long: `New writes a small working plugin to a new or empty folder: its source, the SDK,
the golden cases of a corpus, and a README with the next steps. It needs only the
language's own tools, and prints the commands that build and test it.

  go              the Go toolchain; modules of a few megabytes
  assemblyscript  Node.js; modules of about ten kilobytes, like the built-in ones
  c               clang with lld, or Node.js; the smallest modules

The plugin is named after the folder unless --name is given.`,
		Example: `  switchyard plugin new --lang go my-linter
  switchyard plugin new --lang c tools/parser --name my-linter`,
		Args: exactly("DIR"),
	}
	flags := cmd.Flags()
	choiceVar(flags, &language, "lang", "write it in `LANGUAGE`: go, assemblyscript or c", scaffold.Languages()...)
	textVar(flags, &name, "name", "the plugin's `NAME` (default the folder's name)")
	cmd.RunE = a.runE(func(_ context.Context, args []string) error {
		if err := checkRequired(flags, "lang"); err != nil {
			return usagef("%w: go, assemblyscript or c", err)
		}
		p, err := a.project()
		if err != nil {
			return err
		}
		dir, err := p.Resolve(args[0])
		if err != nil {
			return err
		}
		if name == "" {
			name = scaffold.NameOf(dir)
		}
		made, err := scaffold.Write(dir, language, name)
		if err != nil {
			return err
		}
		if a.dir == "." { // In the current directory, the path the user typed is valid as it is.
			made.Dir = args[0]
		}
		s := render.PluginScaffold{Project: made, Test: "switchyard plugin test " + render.ShellQuote(filepath.Join(made.Dir, made.Module)) + " --corpus " + render.ShellQuote(filepath.Join(made.Dir, "corpus"))}
		return show(a, s, (*render.Printer).NewPlugin)
	})
	return cmd
}
