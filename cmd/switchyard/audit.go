package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
)

// maxLog is the longest log of an agent's tools, in bytes.
const maxLog = 16 << 20

func newAuditCmd(a *app) *cobra.Command {
	var req host.AuditRequest
	var log, search string
	var list bool
	cmd := &cobra.Command{
		Use:   "audit TASK --agent NAME --tool-use-log JSON",
		Short: "Stamp that an agent ran in a task's round",
		Long: `Audit stamps by hand that an agent ran in the task's current round: the evidence
that the phases want. Agents that Switchyard runs itself are stamped by it.

Agents that research or write must have used a search tool (rule 9): the log has
to name one, and a search must be on record, which --search adds. One that did
not is a finding of the next decision. switchyard.yaml says which agents and
which tools these are.

The log is a JSON list of the tools that were used: their names, or objects with
the name as tool, name or tool_name. It is given as such, as a file's path, or
as - for standard input. With --run a run is stamped only once, however often
the command is repeated.`,
		Example: `  switchyard audit TASK-1 --search 'upload retry' --agent np-executor
  switchyard audit TASK-1 --agent np-executor --tool-use-log '["knowledge-search", "Edit"]'
  switchyard audit TASK-1 --list`,
		Args: oneTask,
	}
	cmd.Flags().StringVar(&req.Agent, "agent", "", "the agent's `NAME`")
	cmd.Flags().StringVar(&log, "tool-use-log", "", "the tools that it used: `JSON`, a file, or -")
	cmd.Flags().StringVar(&req.Run, "run", "", "what identifies the run: `ID`")
	cmd.Flags().IntVar(&req.Round, "round", 0, "the round `N` that the agent ran in, from 1 (default the task's)")
	cmd.Flags().StringVar(&search, "search", "", "record that the agent searched for `QUERY`")
	cmd.Flags().BoolVar(&list, "list", false, "list all stamps of the task")
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		flags := cmd.Flags()
		if err := checkAudit(flags, req.Agent, search); err != nil {
			return err
		}
		switch {
		case flags.Changed("round") && req.Round < 1:
			return usagef("--round %d: rounds count from 1", req.Round)
		case list:
			return a.listStamps(ctx, args[0])
		case flags.Changed("search"):
			return a.step(ctx, func(e *host.Engine) (host.TaskResult, error) {
				return e.Search(ctx, args[0], host.SearchRequest{Round: req.Round, Agent: req.Agent, Query: search})
			})
		}
		text, err := a.readLog(ctx, log)
		if err != nil {
			return err
		}
		if req.Tools, err = parseLog(text); err != nil {
			return err
		}
		return a.with(ctx, func(e *host.Engine) error {
			audited, err := e.Audit(ctx, args[0], req)
			if err != nil {
				return err
			}
			return a.print(audited, func(p *render.Printer) { p.Attestation(audited) })
		})
	})
	return cmd
}

// checkAudit wants flags that make one of the command's three deeds: to list, to
// record a search, or to stamp a run.
func checkAudit(flags *pflag.FlagSet, agent, search string) error {
	list, looks := flags.Changed("list"), flags.Changed("search")
	stamps := flags.Changed("tool-use-log") || flags.Changed("run")
	switch {
	case list && (looks || stamps || flags.Changed("agent")):
		return usagef("--list goes with no other flag")
	case looks && stamps:
		return usagef("--search records a search and --tool-use-log a run; give one at a time")
	case looks && strings.TrimSpace(search) == "":
		return usagef("--search is empty: say what was searched for")
	case list || looks:
		return nil
	case agent == "":
		return usagef("--agent is missing: say who ran")
	case !flags.Changed("tool-use-log"):
		return usagef("--tool-use-log is missing; an agent that used no tools has the log []")
	default:
		return nil
	}
}

// stampList is what audit --list prints as JSON.
type stampList struct {
	Stamps []host.StampEntry `json:"stamps"`
}

func (a *app) listStamps(ctx context.Context, id string) error {
	return a.with(ctx, func(e *host.Engine) error {
		stamps, err := e.Stamps(ctx, id)
		if err != nil {
			return err
		}
		return a.print(stampList{stamps}, func(p *render.Printer) { p.Attestations(stamps) })
	})
}

// readLog returns the text that a flag names: itself where it is meant as JSON,
// else a file's content.
func (a *app) readLog(ctx context.Context, log string) ([]byte, error) {
	if kind := jsontext.Value(log).Kind(); kind == '[' || kind == '{' {
		return []byte(log), nil
	}
	var text []byte
	var err error
	if log == api.Stdin {
		text, err = project.ReadAll(ctx, a.in, "standard input", maxLog)
	} else {
		var p project.Project
		if p, err = a.project(); err == nil {
			text, err = p.Read(ctx, log, maxLog)
		}
	}
	if errs.CodeOf(err) == errs.FileTooLarge {
		err = errs.New(errs.ToolUseLogInvalid, "the log has more than %d bytes", maxLog)
	}
	return text, err
}

// parseLog reads the names of the tools in a log.
func parseLog(text []byte) ([]string, error) {
	var entries []jsontext.Value
	err := json.Unmarshal(text, &entries)
	if err == nil && entries == nil {
		err = errors.New("it is null")
	}
	if err != nil {
		return nil, errs.New(errs.ToolUseLogInvalid, "the log is no JSON list: %w", err)
	}
	tools := make([]string, len(entries))
	for i, entry := range entries {
		name, err := toolOf(entry)
		if err != nil {
			return nil, errs.New(errs.ToolUseLogInvalid, "entry %d of the log: %w", i, err).With("index", i)
		}
		tools[i] = name
	}
	return tools, nil
}

// toolOf reads a tool's name, which stands alone or in an object.
func toolOf(entry jsontext.Value) (string, error) {
	var named struct {
		Tool     string `json:"tool"`
		Name     string `json:"name"`
		ToolName string `json:"tool_name"`
	}
	var err error
	if entry.Kind() == '"' {
		err = json.Unmarshal(entry, &named.Tool)
	} else {
		err = json.Unmarshal(entry, &named)
	}
	if err != nil {
		return "", fmt.Errorf("it is neither a tool's name nor an object with one: %w", err)
	}
	if name := cmp.Or(named.Tool, named.Name, named.ToolName); name != "" {
		return name, nil
	}
	return "", fmt.Errorf("it names no tool")
}
