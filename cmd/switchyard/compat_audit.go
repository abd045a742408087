package main

import (
	"context"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// loopStamp is a stamp in the reference's words.
type loopStamp struct {
	Agent          string `json:"agent"`
	Audited        bool   `json:"audited"`
	Round          int    `json:"round"`
	SearchCalls    int    `json:"search_calls"`
	Credited       int    `json:"credited_calls"`
	SearchEvidence int    `json:"search_evidence_count"`
	ToolUses       int    `json:"tool_use_count"`
	// Violation is nil where the agent did nothing against rule 9.
	Violation *task.ViolationKind `json:"violation"`
	At        string              `json:"audited_at"`
	// Source says who vouches: hand or host; By, who gave the command.
	Source task.Source `json:"source"`
	By     string      `json:"by"`
}

func newLoopStamp(s task.Stamp, at string) loopStamp {
	stamp := loopStamp{
		Agent: s.Agent, Audited: s.Audited, Round: s.Round, SearchCalls: s.SearchCalls, Credited: s.Credited,
		SearchEvidence: s.SearchEvidence, ToolUses: s.ToolUses, At: at, Source: s.Source, By: s.By,
	}
	if s.Violation != "" {
		stamp.Violation = &s.Violation
	}
	return stamp
}

// auditFlags are the flags of loop-audit-tool-use.
type auditFlags struct {
	agent, log, search textFlag
	read               bool
}

func newLoopAuditCmd(a *app) *cobra.Command {
	var f auditFlags
	cmd := &cobra.Command{
		Use:   "loop-audit-tool-use TASK --agent NAME --tool-use-log JSON",
		Short: "Stamp that an agent ran in a task's round",
		Long: `Loop-audit-tool-use stamps an agent's run, as switchyard audit does. The log is a
JSON list of the tools that it used; agents that have to search need one.

With --search it records a search instead, which a search tool in a log is
credited for.`,
		Args: atMostOneTask,
	}
	cmd.Flags().Var(&f.agent, "agent", "the agent's `NAME`")
	cmd.Flags().Var(&f.log, "tool-use-log", "the tools that it used: `JSON`")
	cmd.Flags().Var(&f.search, "search", "record that the agent searched for `QUERY`")
	cmd.Flags().BoolVar(&f.read, "read", false, "print all stamps of the task")
	cmd.RunE = a.compatE(func(ctx context.Context, args []string) (any, error) {
		id, err := loopTask(args, errs.NubosloopAuditInvalidTaskID)
		if err != nil {
			return nil, err
		}
		if f.read && f.search.given || f.search.given && f.log.given || f.log.given && f.read {
			return nil, usagef("--read, --search and --tool-use-log are three different requests; give one")
		}
		if cmd.Flags().Changed("search") && strings.TrimSpace(f.search.text) == "" {
			return nil, usagef("--search is empty: nobody has searched for nothing")
		}
		return ask(ctx, a, func(e *host.Engine) (any, error) {
			switch {
			case f.read:
				return f.stamps(ctx, e, id)
			case f.search.given:
				return f.searched(ctx, e, id)
			default:
				return f.audit(ctx, e, id)
			}
		})
	})
	return cmd
}

// The three results of loop-audit-tool-use: the list, a recorded search, and a new
// attestation.
type (
	loopStamps struct {
		TaskID string      `json:"task_id"`
		Stamps []loopStamp `json:"tool_use_audit"`
	}
	loopSearched struct {
		TaskID string `json:"task_id"`
		Round  int    `json:"round"`
		Agent  string `json:"agent,omitzero"`
		Query  string `json:"query"`
		At     string `json:"recorded_at"`
	}
	loopAudited struct {
		TaskID string `json:"task_id"`
		loopStamp
	}
)

func (f *auditFlags) stamps(ctx context.Context, e *host.Engine, id string) (any, error) {
	stamps, err := e.Stamps(ctx, id)
	if err != nil {
		return nil, err
	}
	log := loopStamps{TaskID: id}
	for _, s := range stamps {
		log.Stamps = append(log.Stamps, newLoopStamp(s.Stamp, s.At))
	}
	return log, nil
}

func (f *auditFlags) searched(ctx context.Context, e *host.Engine, id string) (any, error) {
	s, err := e.Search(ctx, id, host.SearchRequest{Agent: f.agent.text, Query: f.search.text})
	if err != nil {
		return nil, inLoopWords(err, errs.AgentInvalid, errs.NubosloopAuditInvalidAgent)
	}
	return loopSearched{id, s.Round, f.agent.text, f.search.text, s.UpdatedAt}, nil
}

func (f *auditFlags) audit(ctx context.Context, e *host.Engine, id string) (any, error) {
	config, err := e.Config(ctx)
	if err != nil {
		return nil, err
	}
	tools, err := f.tools(slices.Contains(config.Audit.Agents, f.agent.text))
	if err != nil {
		return nil, err
	}
	audited, err := e.Audit(ctx, id, host.AuditRequest{Agent: f.agent.text, Tools: tools})
	if err != nil {
		return nil, inLoopWords(err, errs.AgentInvalid, errs.NubosloopAuditInvalidAgent)
	}
	return loopAudited{id, newLoopStamp(audited.Stamp, audited.UpdatedAt)}, nil
}

// tools checks the flags of a stamp and reads its log, which an audited agent
// must have.
func (f *auditFlags) tools(audited bool) ([]string, error) {
	if slices.Contains([]string{"np-critic-style", "np-critic-tests", "np-critic-acceptance", "np-critic-economy"}, f.agent.text) {
		return nil, errs.New(errs.LoopAuditAgentIsModule, "%s is a module that an agent reads, and no agent", f.agent.text).With("agent", f.agent.text)
	}
	if !f.log.given {
		if audited {
			return nil, errs.New(errs.LoopAuditMissingLog, "%s has to search, and there is no log of its tools", f.agent.text).With("agent", f.agent.text)
		}
		return nil, nil
	}
	log := jsontext.Value(f.log.text)
	if !log.IsValid() {
		return nil, errs.New(errs.LoopAuditInvalidLog, "the log is no JSON")
	}
	if log.Kind() != '[' {
		return nil, errs.New(errs.NubosloopAuditInvalidLog, "the log is no list")
	}
	tools, err := parseLog(log)
	return tools, inLoopWords(err, errs.ToolUseLogInvalid, errs.NubosloopAuditInvalidLog)
}
