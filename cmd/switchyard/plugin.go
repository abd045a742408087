package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/plugins/plugintest"
	"github.com/switchyard-dev/switchyard/plugins/sdk/scaffold"
)

func newPluginCmd(a *app) *cobra.Command {
	return cli.NewGroup(&cobra.Command{
		Use:   "plugin",
		Short: "Inspect, test and write the plugins that read reports",
		Long: `A plugin turns the report of one tool into findings. It is a WebAssembly module
that runs in a sandbox: it sees only the report and its own settings, and the host
checks that it accounts for every item of the report.

A PLUGIN argument is the name of an installed plugin, or the path of a module: a
.wasm file, with a slash or the suffix in it.

A project adds plugins by listing their files, or directories of them, under
plugin_paths in switchyard.yaml. Each must be pinned in switchyard.lock, which
switchyard plugin lock writes. The settings of a plugin are under plugins, by its
name.`,
		Example: `  switchyard plugin list
  switchyard plugin run auto report.json
  switchyard plugin new --lang go my-linter
  switchyard plugin test my-linter/my-linter.wasm --corpus my-linter/corpus`,
	},
		newPluginListCmd(a),
		newPluginInspectCmd(a),
		newPluginRunCmd(a),
		newPluginTestCmd(a),
		newPluginBenchCmd(a),
		newPluginNewCmd(a),
		newPluginLockCmd(a),
	)
}

func newPluginListCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the plugins that can be used by name",
		Long: `List shows the plugins that are built in or in the project, and the named
configurations, with the formats that each reads.

The exit status is 1 if one of them cannot be used, such as a file that differs
from switchyard.lock. The others are listed anyway.`,
		Example: `  switchyard plugin list
  switchyard plugin list --output json | jq -r '.plugins[].name'`,
		Args: cli.NoArgs,
		RunE: a.runE(func(ctx context.Context, e *host.Engine, _ []string) error {
			all, err := e.Plugins().List(ctx)
			if err != nil {
				return err
			}
			var failure error
			if !all.OK {
				failure = errs.New(errs.Unhealthy, "broken: %s", strings.Join(brokenPlugins(all), ", "))
			}
			return showCheck(a, all, failure, (*render.Printer).PluginList)
		}),
	}
}

func brokenPlugins(all api.PluginInventory) []string {
	var names []string
	for _, p := range all.Plugins {
		if p.Problem != nil {
			names = append(names, cmp.Or(p.Path, p.Use, p.Name))
		}
	}
	return names
}

func newPluginInspectCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "inspect PLUGIN",
		Short: "Show a plugin's digest, interface and description",
		Long: `Inspect shows a plugin's digest and size, its imports and exports, its limits, and
its description of itself. Only the plugin's start and description functions run, in
the sandbox.

A file that is not a plugin is shown as far as it can be read; then the command
fails with the reason.`,
		Example: `  switchyard plugin inspect sarif
  switchyard plugin inspect ./my-linter.wasm
  switchyard plugin inspect ./my-linter.wasm --output json | jq .imports`,
		Args: cli.Exactly("the PLUGIN"),
		RunE: a.runE(func(ctx context.Context, e *host.Engine, args []string) error {
			in, err := e.Plugins().Inspect(ctx, args[0])
			if in.Digest == "" {
				return err
			}
			return showCheck(a, in, err, (*render.Printer).PluginInspection)
		}),
	}
}

func newPluginRunCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "run PLUGIN REPORT",
		Short: "Normalise one report and show what the host would get",
		Long: `Run has a plugin read one report, with the project's settings for it, and shows
what would be merged and routed: the findings, the skipped items with their
reasons, and the rules for which no setting has a category. Nothing is decided or
recorded.

PLUGIN may also be auto, for the installed plugin that recognises the report, or a
directory, whose plugins then join the installed ones. REPORT - is standard input.`,
		Example: `  switchyard plugin run auto lint.sarif
  switchyard plugin run ./my-linter.wasm report.json --output json
  eslint --format json . | switchyard plugin run eslint -`,
		Args: cli.Exactly("the PLUGIN", "the REPORT"),
		RunE: a.runE(func(ctx context.Context, e *host.Engine, args []string) error {
			n, err := e.Plugins().Normalize(ctx, api.ReportRef{Plugin: args[0], Path: args[1]}, a.In)
			view := render.NormalizedView{Plugin: n.Plugin, Report: n.Report, Answer: n.Answer()}
			return cli.Show(&a.Program, view, err, func(p *render.Printer, _ render.NormalizedView) { p.Normalized(n) })
		}),
	}
}

func newPluginTestCmd(a *app) *cobra.Command {
	var corpus string
	cmd := &cobra.Command{
		Use:   "test FILE.wasm [--corpus DIR]",
		Short: "Check a plugin against the ABI and hostile reports",
		Long: `Test checks a plugin's file, or an installed plugin by name, with the limits and the
sandbox of every other command: its module and description, the golden cases of
--corpus, determinism, hostile reports and large ones. switchyard plugin new creates a
plugin with a corpus. A golden case is a JSON file with one report and one expectation:

  name         for people; optional
  config       the plugin's configuration; optional
  report       the report as JSON
  report_text  or as a text, for JSON lines, XML and broken input
  report_file  or the path of its file, relative to DIR
  want         the whole answer
  want_counts  or its size: {"findings": 4, "skipped": 2}
  want_error   or the refusal: its code, a part of its message, its ref, some details

A plugin fails at once if it exceeds its time limit five times, or takes two
minutes in total. The exit status is 1 if any check fails.`,
		Example: `  switchyard plugin test my-linter.wasm --corpus corpus
  switchyard plugin test my-linter.wasm --output json | jq '.checks[] | select(.status == "fail")'`,
		Args: cli.Exactly("FILE.wasm"),
	}
	cli.TextVar(cmd.Flags(), &corpus, "corpus", "run the golden cases of `DIR`, its files *.json")
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, args []string) error {
		m, err := e.Plugins().Module(ctx, args[0])
		if err != nil {
			return err
		}
		p := a.project
		o := plugintest.Options{Limits: m.Limits, CacheDir: cli.CacheDir(), Read: p.Read}
		if corpus != "" {
			if o.Corpus, err = p.Folder(corpus); err != nil {
				return err
			}
			if _, inside := p.Rel(o.Corpus); inside {
				o.Read = readInside(p)
			}
		}
		done := a.showWork("testing " + args[0])
		r, err := plugintest.Run(ctx, m.Wasm, o)
		done()
		if err != nil {
			return err
		}
		var failure error
		if !r.OK() {
			failure = errs.New(errs.PluginTestFailed, "%d of %s failed", r.Failed, textutil.Count(len(r.Checks), "check"))
		}
		return showCheck(a, r, failure, (*render.Printer).Conformance)
	})
	return cmd
}

// readInside returns a function that reads the files of a corpus. Their paths come from the
// cases, not from the user, so they must be inside the project.
func readInside(p project.Project) func(context.Context, string, int64) ([]byte, error) {
	return func(ctx context.Context, path string, limit int64) ([]byte, error) {
		if _, inside := p.Rel(path); !inside {
			return nil, errs.New(errs.PathEscapesProject, "%s is outside the project, and its corpus is inside", path).With("path", path)
		}
		return p.Read(ctx, path, limit)
	}
}

func newPluginBenchCmd(a *app) *cobra.Command {
	runs := 50
	cmd := &cobra.Command{
		Use:   "bench PLUGIN REPORT",
		Short: "Measure what a plugin costs on a report",
		Long: `Bench measures how long a plugin takes for a report, with the project's settings:

  cold, compiled   in a new runtime, without a code cache
  cold, cached     in a new runtime, its code from the cache
  warm             in a new instance of a plugin that is loaded
  warm, guest      the plugin's part of that, without the host's checks

Each ends with the findings that a round would merge. The cost per finding is the
warm median divided by the findings. Each measurement takes at most ten seconds.

PLUGIN may also be auto. REPORT - is standard input.`,
		Example: `  switchyard plugin bench sarif lint.sarif
  switchyard plugin bench ./my-linter.wasm report.json --runs 200 --output json`,
		Args: cli.Exactly("the PLUGIN", "the REPORT"),
	}
	cli.NumberVar(cmd.Flags(), &runs, "runs", 1, 10_000, "measure `N` times; compiling at most 5 times")
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, args []string) error {
		done := a.showWork("measuring " + args[0])
		b, err := e.Plugins().Bench(ctx, api.ReportRef{Plugin: args[0], Path: args[1]}, a.In, runs)
		done()
		return cli.Show(&a.Program, b, err, (*render.Printer).Benchmark)
	})
	return cmd
}

func newPluginNewCmd(a *app) *cobra.Command {
	var language scaffold.Language
	var name string
	cmd := &cobra.Command{
		Use:   "new --lang go|assemblyscript|c DIR",
		Short: "Start a new plugin, which builds and passes its tests at once",
		Long: `New writes a small working plugin to a new or empty directory: its source, the SDK,
the golden cases of a corpus, and a README with the next steps. It needs only the
language's own tools, and prints the commands that build and test it.

  go              the Go toolchain; modules of a few megabytes
  assemblyscript  Node.js; modules of about ten kilobytes, like the built-in ones
  c               clang with lld, or Node.js; the smallest modules

The plugin is named after the directory unless --name is given.`,
		Example: `  switchyard plugin new --lang go my-linter
  switchyard plugin new --lang c tools/parser --name my-linter`,
		Args: cli.Exactly("DIR"),
	}
	flags := cmd.Flags()
	cli.ChoiceVar(flags, &language, "lang", "write it in `LANGUAGE`: go, assemblyscript or c", scaffold.Languages()...)
	cli.TextVar(flags, &name, "name", "the plugin's `NAME` (default the directory's name)")
	cmd.RunE = a.runE(func(_ context.Context, _ *host.Engine, args []string) error {
		if err := cli.CheckRequired(flags, "lang"); err != nil {
			return cli.Usagef("%w: go, assemblyscript or c", err)
		}
		dir, err := a.project.Resolve(args[0])
		if err != nil {
			return err
		}
		made, err := scaffold.Write(dir, language, cmp.Or(name, scaffold.NameOf(dir)))
		if a.dir == "." { // In the current directory, the path the user typed is valid as it is.
			made.Dir = args[0]
		}
		test := fmt.Sprintf("switchyard plugin test %s --corpus %s",
			render.ShellQuote(filepath.Join(made.Dir, made.Module)), render.ShellQuote(filepath.Join(made.Dir, "corpus")))
		return cli.Show(&a.Program, render.PluginScaffold{Project: made, Test: test}, err, (*render.Printer).NewPlugin)
	})
	return cmd
}

func newPluginLockCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "lock",
		Short: "Pin the project's plugins in switchyard.lock",
		Long: `Lock writes the digests of the plugins that plugin_paths in switchyard.yaml names to
switchyard.lock beside it, and prints what changed. From then on only these very
files are used. Commit the lock, and review its changes like those of code: a plugin
decides what counts as a finding.`,
		Example: `  switchyard plugin lock
  switchyard plugin lock --output json | jq .changes`,
		Args: cli.NoArgs,
		RunE: a.runE(func(ctx context.Context, e *host.Engine, _ []string) error {
			l, err := e.Plugins().Lock(ctx)
			return cli.Show(&a.Program, l, err, (*render.Printer).PluginLock)
		}),
	}
}
