package main

import (
	"context"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/plugins/plugintest"
)

// The file cannot be called plugin_test.go: that would make it one of tests.

func newPluginTestCmd(a *app) *cobra.Command {
	var corpus string
	cmd := &cobra.Command{
		Use:   "test FILE.wasm [--corpus DIR]",
		Short: "Hold a plugin against the ABI and against hostile reports",
		Long: `Test runs the conformance kit on a plugin's file, or on an installed plugin by
its name, with the limits and in the sandbox of every other command:

  module          it is a module of ABI v1 and describes itself
  corpus          it answers the golden cases of --corpus as they want
  determinism     other memory and another engine make no difference
  hostile input   reports cut short, of wrong types and in wrong encodings
  limits          large reports, and every item accounted for

A golden case is a JSON file: {"name", "config"?, "report" | "report_text" |
"report_file", "want" | "want_counts" | "want_error"}. Without --corpus there are
no golden cases, and the other checks have less to go by. The rules are in
docs/plugin-abi.md; switchyard plugin new makes a plugin with a corpus.

A plugin that runs into its limit of time five times fails at once, and so does
one that takes two minutes for all of it. The exit status is 1 if any check
fails.`,
		Example: `  switchyard plugin test my-linter.wasm --corpus corpus
  switchyard plugin test my-linter.wasm --output json | jq '.checks[] | select(.status == "fail")'`,
		Args: exactly("FILE.wasm"),
	}
	cmd.Flags().StringVar(&corpus, "corpus", "", "run the golden cases of `DIR`, its files *.json")
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		if cmd.Flags().Changed("corpus") && corpus == "" {
			return usagef("--corpus is empty")
		}
		p, err := a.project()
		if err != nil {
			return err
		}
		return a.with(ctx, func(e *host.Engine) error {
			m, err := e.Plugins().Module(ctx, args[0])
			if err != nil {
				return err
			}
			o := plugintest.Options{Limits: m.Limits, CacheDir: cacheDir(), Read: p.Read}
			if corpus != "" {
				if o.Corpus, err = p.Folder(corpus); err != nil {
					return err
				}
				if _, inside := p.Rel(o.Corpus); inside {
					o.Read = readInside(p)
				}
			}
			done := a.waiting("testing " + args[0])
			r, err := plugintest.Run(ctx, m.Wasm, o)
			done()
			if err != nil {
				return err
			}
			if !r.OK() {
				a.exit = exitFault // The report says why.
			}
			return a.print(r, func(p *render.Printer) { p.Conformance(r) })
		})
	})
	return cmd
}

// readInside reads the files of a corpus that lies in the project. Their paths are
// not the user's own word: a case must not name a file from elsewhere.
func readInside(p project.Project) func(context.Context, string, int64) ([]byte, error) {
	return func(ctx context.Context, path string, limit int64) ([]byte, error) {
		if _, inside := p.Rel(path); !inside {
			return nil, errs.New(errs.PathEscapesProject, "%s: the corpus lies in the project, and this does not", path).With("path", path)
		}
		return p.Read(ctx, path, limit)
	}
}
