package main

import (
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/internal/buildinfo"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/compat/nubospilot/verbs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/plugins"
	"github.com/switchyard-dev/switchyard/policies"
)

// newRootCmd returns the root command for a command line. If args begin with the name of a
// command, it has only that one: building all of them takes longer than many commands run.
func newRootCmd(a *app, args []string) *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "switchyard",
		Short: "Decide where a review loop goes next",
		Long: `Switchyard decides what follows a critic's run: commit, back to the executor,
ask a researcher, ask the user, ask the plan-checker, or stop as stuck.

It normalises the critic's report in a sandboxed WebAssembly plugin, merges the
findings, routes them by a versioned policy, and records why in a ledger. Run
starts the agents itself and drives a task from its text to a commit.`,
		Example: `  switchyard run TASK-1 --prompt-file task.md
  switchyard route --report report.json
  switchyard round TASK-1 --report report.json --report lint.sarif
  switchyard explain TASK-1`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cli.UnknownCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			if version {
				return a.printVersion()
			}
			return cli.ShowHelp(cmd, args)
		},
		PersistentPreRun: func(cmd *cobra.Command, _ []string) {
			a.Parsed = true
			switch {
			case isShort(cmd):
				deferGC()
			case cmd.CommandPath() == "switchyard run":
				debug.SetGCPercent(runGC)
			case strings.HasPrefix(cmd.CommandPath(), "switchyard policy "), cmd.CommandPath() == "switchyard ledger verify":
				debug.SetGCPercent(recordsGC)
			}
		},
	}
	root.PersistentFlags().StringVarP(&a.dir, "directory", "C", ".", "work on the project of `DIR`")
	a.Output = cli.OutputText
	cli.ChoiceVar(root.PersistentFlags(), &a.Output, "output", "print `FORMAT`: text or json", cli.OutputText, cli.OutputJSON)
	root.Flags().BoolVar(&version, "version", false, "show the version")
	root.SetHelpCommand(cli.NewHelpCmd())
	commands := commands()
	if named := commands[cli.FirstArg(args)]; named != nil {
		root.AddCommand(named(a))
	} else {
		for _, newCmd := range commands {
			root.AddCommand(newCmd(a))
		}
		root.InitDefaultCompletionCmd()
		if completion, _, err := root.Find([]string{"completion"}); err == nil {
			completion.Args, completion.RunE = cli.KnownShell, cli.ShowHelp
		}
		a.complete(root)
	}
	cli.LayOutHelp(root, commandGroups(), exitStatusOf)
	cmd, _, err := root.Find(args)
	a.BareErrors = err == nil && cmd.GroupID == compatGroup
	return root
}

// commands returns the constructors of the commands by name.
func commands() map[string]func(*app) *cobra.Command {
	all := map[string]func(*app) *cobra.Command{
		"answer":   newAnswerCmd,
		"audit":    newAuditCmd,
		"demo":     newDemoCmd,
		"doctor":   newDoctorCmd,
		"evaluate": newEvaluateCmd,
		"explain":  newExplainCmd,
		"findings": newFindingsCmd,
		"gate":     newGateCmd,
		"hook":     newHookCmd,
		"init":     newInitCmd,
		"ledger":   newLedgerCmd,
		"mcp":      newMCPCmd,
		"metrics":  newMetricsCmd,
		"phase":    newPhaseCmd,
		"plugin":   newPluginCmd,
		"policy":   newPolicyCmd,
		"resume":   newResumeCmd,
		"round":    newRoundCmd,
		"route":    newRouteCmd,
		"run":      newRunCmd,
		"spawn":    newSpawnCmd,
		"stats":    newStatsCmd,
		"status":   newStatusCmd,
		"version":  newVersionCmd,
	}
	for _, v := range verbs.Verbs() {
		all[v.Name] = func(a *app) *cobra.Command { return newCompatCmd(a, v) }
	}
	return all
}

// maxHeap is the heap size in bytes at which garbage collection starts in a short command.
// Few rounds reach it.
const maxHeap = 384 << 20

// deferGC delays garbage collection, which would take a tenth of the time of a short command.
func deferGC() {
	debug.SetMemoryLimit(min(debug.SetMemoryLimit(-1), maxHeap))
	debug.SetGCPercent(-1)
}

// runGC is the percentage of garbage that run may have. Otherwise several agents that print
// much would double its memory.
const runGC = 25

// recordsGC is the percentage of garbage that a command about policies or whole ledgers may
// have. It reads records or makes decisions by the thousand and keeps little of each. With
// the default percentage, collecting the rest took half of its time.
const recordsGC = 400

// isShort reports whether a command only decides on reports or lists something. A
// command that spawns agents waits for them, and their output can be large.
func isShort(cmd *cobra.Command) bool {
	switch cmd.CommandPath() {
	case "switchyard route", "switchyard status", "switchyard hook stop", "switchyard plugin run", "switchyard plugin bench":
		return true
	default:
		return cmd.Flags().Changed("report") && !cmd.Flags().Changed("spawn")
	}
}

// buildInfo is the output of version.
type buildInfo struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitzero"`
	Date     string `json:"date,omitzero"` // of the commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Policy   string `json:"policy"`
	ABI      string `json:"abi"`
	Ledger   int    `json:"ledger"`
}

func newVersionCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the version",
		Args:  cli.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return a.printVersion() },
	}
}

func (a *app) printVersion() error {
	build := buildinfo.Read()
	return cli.Show(&a.Program, buildInfo{
		build.Version, build.Commit, build.Date, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH,
		policies.Default, plugins.ABI, ledger.SchemaVersion(),
	}, nil, func(p *render.Printer, b buildInfo) {
		p.Line("switchyard %s (%s, %s, default policy %s)", b.Version, b.Go, b.Platform, b.Policy)
	})
}
