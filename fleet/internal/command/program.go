// Package command is the command line of switchyard-fleet.
package command

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/internal/buildinfo"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// Run executes one command line and returns the exit code.
func Run(ctx context.Context, args []string, std cli.Streams) int {
	a := &app{Program: cli.Program{Streams: std}}
	return a.Run(ctx, newRootCmd(a), args)
}

// app has the global flags.
type app struct {
	cli.Program
	dir, projectName   string
	address, namespace string
}

func newRootCmd(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "switchyard-fleet",
		Short: "Run the tasks of projects on many machines",
		Long: `Switchyard-fleet drives tasks from their text to a commit, as switchyard run
does, with agents on many machines. Temporal keeps the tasks, and what each of
them waits for.

Each project has one home, which owns its ledger and decides: the command
ledger, in the project's checkout. Any number of workers run the agents. docs/fleet.md
shows how to set them up.

The server is that of the Temporal configuration: TEMPORAL_ADDRESS,
TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, the TEMPORAL_TLS_ variables, or a
profile of its configuration file.`,
		Example: `  switchyard-fleet ledger --store /srv/switchyard
  switchyard-fleet worker --store /srv/switchyard
  switchyard-fleet run --tasks tasks.yaml --store /srv/switchyard
  switchyard-fleet answer SHOP-2 --choice 2`,
		SilenceErrors:    true,
		SilenceUsage:     true,
		Args:             cli.UnknownCommand,
		RunE:             cli.ShowHelp,
		Version:          buildinfo.Read().Version,
		PersistentPreRun: func(*cobra.Command, []string) { a.Parsed = true },
	}
	flags := root.PersistentFlags()
	flags.StringVarP(&a.dir, "directory", "C", ".", "work on the project of `DIR`")
	cli.TextVar(flags, &a.projectName, "project", "the `NAME` of the project in the fleet (default the name of its directory)")
	cli.TextVar(flags, &a.address, "address", "the Temporal server at `HOST:PORT` (default TEMPORAL_ADDRESS, or localhost:7233)")
	cli.TextVar(flags, &a.namespace, "namespace", "the Temporal `NAMESPACE` (default TEMPORAL_NAMESPACE, or default)")
	a.Output = cli.OutputText
	cli.ChoiceVar(flags, &a.Output, "output", "print `FORMAT`: text or json", cli.OutputText, cli.OutputJSON)
	root.SetHelpCommand(cli.NewHelpCmd())
	root.AddCommand(newRunCmd(a), newAnswerCmd(a), newStatusCmd(a), newStopCmd(a), newLedgerCmd(a), newWorkerCmd(a))
	root.InitDefaultCompletionCmd()
	if completion, _, err := root.Find([]string{"completion"}); err == nil {
		completion.Args, completion.RunE = cli.KnownShell, cli.ShowHelp
	}
	cli.LayOutHelp(root, []cli.Group{
		{ID: "tasks", Title: "Tasks:", Commands: []string{"run", "answer", "status", "stop"}},
		{ID: "machines", Title: "Machines:", Commands: []string{"ledger", "worker"}},
	}, exitStatusOf)
	return root
}

func exitStatusOf(cmd *cobra.Command) string {
	if cmd.Name() == "run" {
		return runStatus
	}
	return cli.ExitStatus
}

// project returns the project of the selected directory and its name in the fleet. The
// name is part of queues and of workflow ids, so it has the form of a task's id.
func (a *app) project() (project.Project, string, error) {
	p, err := project.Find(a.dir)
	if err != nil {
		return p, "", cli.Usagef("-C: %w", err)
	}
	name := a.projectName
	if name == "" {
		name = filepath.Base(p.Root)
	}
	if task.CheckID(name) != nil {
		return p, "", cli.Usagef("%q is not a project's name: name one of letters, digits and any of . _ - with --project", name)
	}
	return p, name, nil
}
