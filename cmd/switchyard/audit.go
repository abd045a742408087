package main

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/render"
)

// maxLog is the maximum size of a tool log, in bytes.
const maxLog = 16 << 20

func newAuditCmd(a *app) *cobra.Command {
	var req api.AuditRequest
	var log, search string
	var list bool
	cmd := &cobra.Command{
		Use:   "audit TASK --agent NAME --tool-use-log JSON",
		Short: "Attest that an agent ran in a task's round",
		Long: `Audit records by hand that an agent ran in the task's current round: the
attestation that the phases need. Switchyard attests the agents that it runs
itself.

Agents that research or write must search before they write (the
search-before-write rule): the log must name a search tool, and a search must be on
record, which --search adds. A violation is a finding of the next decision.
switchyard.yaml says which agents and which tools these are.

The log is a JSON list of the tools that were used: their names, or objects with
the name as tool, name or tool_name. It is given as JSON, as a file's path, or as
- for standard input. With --run a run is attested only once, however often the
command is repeated.`,
		Example: `  switchyard audit TASK-1 --search 'upload retry' --agent np-executor
  switchyard audit TASK-1 --agent np-executor --tool-use-log '["knowledge-search", "Edit"]'
  switchyard audit TASK-1 --list`,
		Args: cli.OneTask,
	}
	flags := cmd.Flags()
	cli.TextVar(flags, &req.Agent, "agent", "the agent's `NAME`")
	cli.TextVar(flags, &log, "tool-use-log", "the tools that it used: `JSON`, a file, or -")
	cli.TextVar(flags, &req.Run, "run", "the `ID` of the run")
	roundVar(flags, &req.Round, "the round `N` that the agent ran in, from 1 (default the task's)")
	cli.TextVar(flags, &search, "search", "record that the agent searched for `QUERY`")
	flags.BoolVar(&list, "list", false, "list all attestations of the task")
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, args []string) (err error) {
		if err := checkAudit(flags, req.Agent, search); err != nil {
			return err
		}
		switch {
		case list:
			attestations, err := e.Attestations(ctx, args[0])
			return cli.Show(&a.Program, render.AttestationList{Stamps: attestations}, err, (*render.Printer).Attestations)
		case search != "":
			return a.showTask(e.Search(ctx, args[0], api.SearchRequest{Round: req.Round, Agent: req.Agent, Query: search}))
		}
		if req.Tools, err = a.usedTools(ctx, log); err != nil {
			return err
		}
		result, err := e.Audit(ctx, args[0], req)
		return cli.Show(&a.Program, result, err, (*render.Printer).Attestation)
	})
	return cmd
}

// checkAudit requires the flags of one of three actions: list, record a search, or
// attest a run.
func checkAudit(flags *pflag.FlagSet, agent, search string) error {
	list, searches := len(cli.Given(flags, "list")) > 0, flags.Changed("search")
	attests := flags.Changed("tool-use-log") || flags.Changed("run")
	switch {
	case list && (searches || attests || flags.Changed("agent")):
		return cli.Usagef("--list cannot be combined with another flag")
	case searches && attests:
		return cli.Usagef("--search records a search and --tool-use-log a run; give one at a time")
	case searches && strings.TrimSpace(search) == "":
		return cli.Usagef("--search is empty")
	case list || searches:
		return nil
	case agent == "":
		return cli.Usagef("--agent is missing: say who ran")
	case !flags.Changed("tool-use-log"):
		return cli.Usagef("--tool-use-log is missing; an agent that used no tools has the log []")
	default:
		return nil
	}
}

// usedTools returns the tool names of a log, which is JSON or the path of a file.
func (a *app) usedTools(ctx context.Context, log string) ([]string, error) {
	text := []byte(log)
	if kind := jsontext.Value(log).Kind(); kind != '[' && kind != '{' {
		var err error
		text, err = a.readInput(ctx, log, maxLog)
		if errs.CodeOf(err) == errs.FileTooLarge {
			err = errs.New(errs.ToolUseLogInvalid, "the log has more than %d bytes", maxLog)
		}
		if err != nil {
			return nil, err
		}
	}
	return api.ParseToolLog(text)
}
