package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/plugins/sdk/scaffold"
)

func newPluginNewCmd(a *app) *cobra.Command {
	var language languageFlag
	var name string
	cmd := &cobra.Command{
		Use:   "new --lang go|assemblyscript|c DIR",
		Short: "Start a plugin of your own that builds and passes at once",
		Long: `New writes a small plugin that works to a new or empty folder: its source, the
SDK, the golden cases of a corpus, and a README that says how to go on. It
depends on nothing but the language's own tools, and prints the commands that
build and test it.

  go              the Go toolchain alone; modules of some megabytes
  assemblyscript  Node.js; modules of some ten kilobytes, as the built-in ones
  c               clang with lld, or Node.js; the smallest modules

The plugin is called like the folder, unless --name says otherwise.`,
		Example: `  switchyard plugin new --lang go my-linter
  switchyard plugin new --lang c tools/parser --name my-linter`,
		Args: exactly("DIR"),
	}
	cmd.Flags().Var(&language, "lang", "write it in `LANGUAGE`: go, assemblyscript or c")
	cmd.Flags().StringVar(&name, "name", "", "call it `NAME` (default the folder's name)")
	cmd.RunE = a.runE(func(_ context.Context, args []string) error {
		if language == "" {
			return usagef("--lang is missing: go, assemblyscript or c")
		}
		if cmd.Flags().Changed("name") && name == "" {
			return usagef("--name is empty")
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
		made, err := scaffold.Write(dir, scaffold.Language(language), name)
		if err != nil {
			return err
		}
		if a.dir == "." { // Where the user is, paths can be as the user writes them.
			made.Dir = args[0]
		}
		s := render.PluginScaffold{Project: made, Test: "switchyard plugin test " + render.ShellQuote(filepath.Join(made.Dir, made.Module)) + " --corpus " + render.ShellQuote(filepath.Join(made.Dir, "corpus"))}
		return a.print(s, func(p *render.Printer) { p.NewPlugin(s) })
	})
	return cmd
}

// languageFlag is the flag --lang.
type languageFlag scaffold.Language

func (l *languageFlag) String() string { return string(*l) }

func (l *languageFlag) Type() string { return "language" }

func (l *languageFlag) Set(s string) error {
	if !slices.Contains(scaffold.Languages(), scaffold.Language(s)) {
		return fmt.Errorf("%q is neither go, assemblyscript nor c", s)
	}
	*l = languageFlag(s)
	return nil
}
