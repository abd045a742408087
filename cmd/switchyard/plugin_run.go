package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/plugins"
)

func newPluginRunCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run PLUGIN REPORT",
		Short: "Normalise one report and show what the host would get",
		Long: `Run has a plugin read one report, with the project's settings for it, and shows
what would go on to be merged and routed: the findings, what was left out and
why, and the rules that no setting gives a category. Nothing is decided and
nothing is kept.

PLUGIN may also be auto, or a folder of plugins, one of which has to recognise
the report. REPORT - is standard input.`,
		Example: `  switchyard plugin run auto lint.sarif
  switchyard plugin run ./my-linter.wasm report.json --output json
  eslint --format json . | switchyard plugin run eslint -`,
		Args: exactly("the PLUGIN", "the REPORT"),
	}
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		collectLate()
		return a.with(ctx, func(e *host.Engine) error {
			n, err := e.Normalize(ctx, host.ReportRef{Plugin: args[0], Path: args[1]}, a.in)
			if err != nil {
				return err
			}
			return a.print(normalizedJSON(n), func(p *page) { p.normalized(n) })
		})
	})
	return cmd
}

// normalized is what run prints as JSON: the plugin's answer as the ABI has it,
// the critic of every finding filled in.
type normalized struct {
	Plugin   plugins.Identity    `json:"plugin"`
	Report   string              `json:"report"`
	Critic   string              `json:"critic"`
	TaskID   *string             `json:"task_id"`
	Round    *int                `json:"round"`
	Findings []normalizedFinding `json:"findings"`
	Skipped  []plugins.Skipped   `json:"skipped"`
	Unmapped []plugins.Unmapped  `json:"unmapped"`
}

type normalizedFinding struct {
	Critic      string           `json:"critic"`
	Category    string           `json:"category"`
	Severity    finding.Severity `json:"severity"`
	File        *string          `json:"file"`
	Line        *int             `json:"line"`
	Remediation string           `json:"remediation"`
	Ref         string           `json:"ref"`
}

func normalizedJSON(n host.Normalized) normalized {
	out := normalized{
		Plugin: n.Plugin, Report: n.Report, Critic: n.Critic, TaskID: n.TaskID, Round: n.Round,
		Skipped: n.Skipped, Unmapped: n.Unmapped,
	}
	for _, f := range n.Findings {
		out.Findings = append(out.Findings, normalizedFinding{
			f.Critic, f.Category, f.Severity, f.File, f.Line, f.Remediation, f.Sources[0].Ref,
		})
	}
	return out
}

// pluginName is a plugin's name and version, behind the name of a configuration of it.
func pluginName(id plugins.Identity) string {
	if id.Use != "" {
		return id.Name + " (" + id.Use + " " + id.Version + ")"
	}
	return id.Name + " " + id.Version
}

// normalized shows a report as a plugin understood it.
func (p *page) normalized(n host.Normalized) {
	about := "critic " + n.Critic
	if n.TaskID != nil {
		about += ", task " + *n.TaskID
	}
	if n.Round != nil {
		about += fmt.Sprintf(", round %d", *n.Round)
	}
	p.line("%s  %s", p.paint(bold, pluginName(n.Plugin)), about)
	p.line("  report  %s  %s, %d left out", shortDigest(n.Report), plural(len(n.Findings), "finding"), len(n.Skipped))
	if len(n.Findings) > 0 {
		p.line("")
		rows, texts := make([][]cell, len(n.Findings)), make([]string, len(n.Findings))
		for i, f := range n.Findings {
			rows[i] = []cell{
				{string(f.Severity), severityColor(f.Severity)}, {f.Category, plain}, {f.Place(), plain},
				{f.Critic, plain}, {f.Sources[0].Ref, dim},
			}
			texts[i] = f.Remediation
		}
		p.placed([]string{"SEVERITY", "CATEGORY", "WHERE", "FOUND BY", "REF"}, rows, 2, texts)
	}
	if len(n.Skipped) > 0 {
		p.line("")
		rows := make([][]cell, len(n.Skipped))
		for i, s := range n.Skipped {
			rows[i] = []cell{{s.Ref, dim}, {s.Reason, plain}}
		}
		p.table([]string{"LEFT OUT", "BECAUSE"}, rows)
	}
	unmapped := make([]host.Unmapped, len(n.Unmapped))
	for i, u := range n.Unmapped {
		unmapped[i] = host.Unmapped{Plugin: n.Plugin.Name, Report: n.Report, Rule: u.Rule, Category: u.Category}
	}
	p.unmapped(unmapped)
}
