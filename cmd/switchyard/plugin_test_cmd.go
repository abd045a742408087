package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/plugins/plugintest"
)

// The file cannot be named plugin_test.go: Go would treat it as a test file.

func newPluginTestCmd(a *app) *cobra.Command {
	var corpus string
	cmd := &cobra.Command{
		Use:   "test FILE.wasm [--corpus DIR]",
		Short: "Check a plugin against the ABI and hostile reports",
		Long: `Test runs the conformance checks on a plugin's file, or on an installed plugin by
name, with the limits and the sandbox of every other command:

  module          it is a module of ABI v1 and describes itself
  corpus          it gives the expected answers to the golden cases of --corpus
  determinism     other memory and another engine make no difference
  hostile input   reports that are truncated, malformed or wrongly encoded
  limits          large reports, with every item accounted for

A golden case is a JSON file: {"name", "config"?, "report" | "report_text" |
"report_file", "want" | "want_counts" | "want_error"}. Without --corpus there are
no golden cases, and the other checks have fewer reports to work with. The rules
are in docs/plugin-abi.md; switchyard plugin new creates a plugin with a corpus.

A plugin fails at once if it exceeds its time limit five times, or takes two
minutes in total. The exit status is 1 if any check fails.`,
		Example: `  switchyard plugin test my-linter.wasm --corpus corpus
  switchyard plugin test my-linter.wasm --output json | jq '.checks[] | select(.status == "fail")'`,
		Args: exactly("FILE.wasm"),
	}
	textVar(cmd.Flags(), &corpus, "corpus", "run the golden cases of `DIR`, its files *.json")
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
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
			var failure error
			if !r.OK() {
				failure = errs.New(errs.PluginTestFailed, "%d of %s failed", r.Failed, textutil.Count(len(r.Checks), "check"))
			}
			return showCheck(a, r, (*render.Printer).Conformance, failure)
		})
	})
	return cmd
}

// readInside returns a function that reads the files of a corpus. The paths come from
// the cases, not from the user, so they must lie inside the project.
func readInside(p project.Project) func(context.Context, string, int64) ([]byte, error) {
	return func(ctx context.Context, path string, limit int64) ([]byte, error) {
		if _, inside := p.Rel(path); !inside {
			return nil, errs.New(errs.PathEscapesProject, "%s is outside the project, and its corpus is inside", path).With("path", path)
		}
		return p.Read(ctx, path, limit)
	}
}
