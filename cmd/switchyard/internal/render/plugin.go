package render

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/plugin/wasmbin"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/plugins"
	"github.com/switchyard-dev/switchyard/plugins/sdk/scaffold"
)

// PluginList prints the installed plugins.
func (p *Printer) PluginList(all api.PluginInventory) {
	rows := make([][]cell, len(all.Plugins))
	for i, pl := range all.Plugins {
		from := cell{cmp.Or(pl.Path, "built-in"), Plain}
		if pl.Path == "" {
			from.color = Dim
		}
		if pl.Use != "" {
			from = cell{"use: " + pl.Use, Plain}
		}
		state := cell{"ok", Green}
		if pl.Problem != nil {
			state = cell{"broken", Red}
		}
		rows[i] = []cell{
			{cmp.Or(pl.Name, "-"), Plain}, {cmp.Or(pl.Version, "-"), Plain}, state, from, {cmp.Or(shortDigest(pl.Digest), "-"), Dim},
			{cmp.Or(strings.Join(pl.Description.Formats, ", "), "-"), Plain},
		}
	}
	p.table([]string{"NAME", "VERSION", "STATE", "FROM", "DIGEST", "FORMATS"}, rows)
	for _, pl := range all.Plugins {
		if pl.Problem != nil {
			p.Line("%s: %s [%s]", p.Paint(Red, "broken"), pl.Problem.Message, pl.Problem.Code)
		}
	}
}

// Inspection is the JSON output of plugin inspect.
type Inspection struct {
	plugins.Inspection
	Limits PluginLimits `json:"limits"`

	inspected api.PluginInspection
}

// NewInspection converts an inspection to its JSON form.
func NewInspection(in api.PluginInspection) Inspection {
	return Inspection{in.Inspection, PluginLimits{
		in.Limits.Memory, in.Limits.Time.Milliseconds(), in.Limits.Output, in.ReportLimit,
	}, in}
}

type PluginLimits struct {
	Memory int64 `json:"memory"`
	TimeMS int64 `json:"time_ms"`
	Output int64 `json:"output"`
	Report int64 `json:"report"`
}

// PluginInspection prints the properties of a plugin's module.
func (p *Printer) PluginInspection(v Inspection) {
	in := v.inspected
	if d := in.Description; d != nil {
		p.Line("%s %s  reads reports of %s", p.Paint(Bold, d.Name), d.Version, d.Critic)
	}
	p.Line("  digest   %s", in.Digest)
	p.Line("  size     %s", Size(int64(in.Size)))
	if in.Description == nil && in.Memory == nil && len(in.Imports)+len(in.Exports) == 0 {
		return // not a module
	}
	if in.ABI == "" {
		in.ABI = "none"
	}
	p.Line("  abi      %s", in.ABI)
	p.Line("  memory   %s", memoryWords(in.Memory))
	p.Line("  limits   %s of memory, %s and an answer of %s for a report of %s",
		Size(in.Limits.Memory), in.Limits.Time, Size(in.Limits.Output), Size(in.ReportLimit))
	if d := in.Description; d != nil {
		p.Line("  formats  %s", strings.Join(d.Formats, ", "))
		p.Line("  detect   %s", detectWords(d))
		items := d.Items
		if d.ItemsFrom != "" {
			items = append(slices.Clone(items), "those at "+d.ItemsFrom+" of its configuration")
		}
		p.Line("  items    %s", strings.Join(items, ", "))
	}
	var imports, exports [][]cell
	for _, i := range in.Imports {
		imports = append(imports, []cell{{i.Module + "." + i.Name, Plain}, {i.Kind, Plain}, {i.Type, Plain}})
	}
	for _, e := range in.Exports {
		exports = append(exports, []cell{{e.Name, Plain}, {e.Kind, Plain}, {e.Type, Plain}})
	}
	if len(imports) > 0 {
		p.Line("")
		p.table([]string{"IMPORT", "KIND", "TYPE"}, imports)
	}
	if len(exports) > 0 {
		p.Line("")
		p.table([]string{"EXPORT", "KIND", "TYPE"}, exports)
	}
}

func memoryWords(m *wasmbin.Memory) string {
	switch {
	case m == nil:
		return "none"
	case m.Maximum == nil:
		return Size(m.Minimum) + " at first"
	default:
		return Size(m.Minimum) + " at first, at most " + Size(*m.Maximum)
	}
}

func detectWords(d *plugins.Description) string {
	var words []string
	if len(d.Detect) > 0 {
		words = append(words, strings.Join(d.Detect, " and "))
	}
	if len(d.DetectAny) > 0 {
		words = append(words, "any of "+strings.Join(d.DetectAny, ", "))
	}
	if len(words) == 0 {
		return "never: its reports need its name"
	}
	return strings.Join(words, ", and ")
}

// PluginScaffold is the JSON output of plugin new.
type PluginScaffold struct {
	scaffold.Project
	// Test is the command that tests the module.
	Test string `json:"test"`
}

// NewPlugin prints the created plugin and the next commands.
func (p *Printer) NewPlugin(s PluginScaffold) {
	p.Line("%s  a plugin in %s", p.Paint(Bold, s.Name), s.Language)
	p.Line("")
	for _, file := range s.Files {
		p.Line("  %s", filepath.Join(s.Dir, filepath.FromSlash(file)))
	}
	p.Line("")
	for i, command := range s.Build {
		label := "build it"
		if i > 0 {
			label = "or with "
		}
		p.Line("%s  cd %s && %s", label, ShellQuote(s.Dir), command)
	}
	p.Line("test it   %s", s.Test)
}

// ShellQuote quotes a path for a shell.
func ShellQuote(path string) string {
	odd := func(r rune) bool {
		return !strings.ContainsRune("/._-+:\\", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}
	if !strings.ContainsFunc(path, odd) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// NormalizedView is the JSON output of plugin run: the plugin's answer in the form of
// the ABI, with the critic of every finding filled in.
type NormalizedView struct {
	Plugin   plugins.Identity    `json:"plugin"`
	Report   string              `json:"report"`
	Critic   string              `json:"critic"`
	TaskID   *string             `json:"task_id"`
	Round    *int                `json:"round"`
	Findings []normalizedFinding `json:"findings"`
	Skipped  []plugins.Skipped   `json:"skipped"`
	Unmapped []plugins.Unmapped  `json:"unmapped"`

	normalized api.NormalizedReport
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

func NewNormalizedView(n api.NormalizedReport) NormalizedView {
	out := NormalizedView{
		Plugin: n.Plugin, Report: n.Report, Critic: n.Critic, TaskID: n.TaskID, Round: n.Round,
		Skipped: n.Skipped, Unmapped: n.Unmapped, normalized: n,
	}
	for _, f := range n.Findings {
		out.Findings = append(out.Findings, normalizedFinding{
			f.Critic, f.Category, f.Severity, f.File, f.Line, f.Remediation, f.Sources[0].Ref,
		})
	}
	return out
}

// pluginName returns a plugin's name and version, after the name of its configuration
// if it has one.
func pluginName(id plugins.Identity) string {
	if id.Use != "" {
		return id.Name + " (" + id.Use + " " + id.Version + ")"
	}
	return id.Name + " " + id.Version
}

// Normalized prints a plugin's result for a report.
func (p *Printer) Normalized(v NormalizedView) {
	n := v.normalized
	about := "critic " + n.Critic
	if n.TaskID != nil {
		about += ", task " + *n.TaskID
	}
	if n.Round != nil {
		about += fmt.Sprintf(", round %d", *n.Round)
	}
	p.Line("%s  %s", p.Paint(Bold, pluginName(n.Plugin)), about)
	p.Line("  report  %s  %s, %d skipped", shortDigest(n.Report), textutil.Count(len(n.Findings), "finding"), len(n.Skipped))
	if len(n.Findings) > 0 {
		p.Line("")
		rows, texts := make([][]cell, len(n.Findings)), make([]string, len(n.Findings))
		for i, f := range n.Findings {
			rows[i] = []cell{
				{string(f.Severity), severityColor(f.Severity)}, {f.Category, Plain}, {f.Location(), Plain},
				{f.Critic, Plain}, {f.Sources[0].Ref, Dim},
			}
			texts[i] = f.Remediation
		}
		p.placed([]string{"SEVERITY", "CATEGORY", "WHERE", "FOUND BY", "REF"}, rows, 2, texts)
	}
	if len(n.Skipped) > 0 {
		p.Line("")
		rows := make([][]cell, len(n.Skipped))
		for i, s := range n.Skipped {
			rows[i] = []cell{{s.Ref, Dim}, {s.Reason, Plain}}
		}
		p.table([]string{"SKIPPED", "BECAUSE"}, rows)
	}
	unmapped := make([]api.Unmapped, len(n.Unmapped))
	for i, u := range n.Unmapped {
		unmapped[i] = api.Unmapped{Plugin: n.Plugin.Name, Report: n.Report, Rule: u.Rule, Category: u.Category}
	}
	p.unmapped(unmapped)
}
