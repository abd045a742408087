package render

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/plugin/wasmbin"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/plugins"
	"github.com/switchyard-dev/switchyard/plugins/plugintest"
	"github.com/switchyard-dev/switchyard/plugins/sdk/scaffold"
)

// PluginList prints the installed plugins.
func (p *Printer) PluginList(all api.PluginInventory) {
	rows := newTable("NAME", "VERSION", "STATE", "FROM", "DIGEST", "FORMATS")
	for _, pl := range all.Plugins {
		from := cell{text: pl.Path}
		switch {
		case pl.Use != "":
			from.text = "use: " + pl.Use
		case pl.Path == "":
			from = dimmed("built-in")
		}
		state := cell{"ok", green}
		if pl.Problem != nil {
			state = cell{"broken", red}
		}
		rows.add(orDash(pl.Name), orDash(pl.Version), state, from, dimmed(orDash(shortDigest(pl.Digest))), orDash(strings.Join(pl.Description.Formats, ", ")))
	}
	p.table(rows)
	for _, pl := range all.Plugins {
		if pl.Problem != nil {
			p.Line("%s: %s [%s]", p.paint(red, "broken"), pl.Problem.Message, pl.Problem.Code)
			p.hintOfProblem(pl.Problem.Code)
		}
	}
}

func orDash(text string) string { return cmp.Or(text, "-") }

// PluginInspection prints the properties of a plugin's module.
func (p *Printer) PluginInspection(in api.PluginInspection) {
	d := in.Description
	if d != nil {
		p.Line("%s %s  reads reports of %s", p.paint(bold, d.Name), d.Version, d.Critic)
	}
	p.Line("  digest   %s", in.Digest)
	p.Line("  size     %s", Size(int64(in.Size)))
	if d == nil && in.Memory == nil && len(in.Imports)+len(in.Exports) == 0 {
		return // not a module
	}
	p.Line("  abi      %s", cmp.Or(in.ABI, "none"))
	p.Line("  memory   %s", memoryWords(in.Memory))
	p.Line("  limits   %s of memory, %s and an answer of %s for a report of %s",
		Size(in.Limits.Memory), time.Duration(in.Limits.TimeMS)*time.Millisecond, Size(in.Limits.Output), Size(in.Limits.Report))
	if d != nil {
		p.Line("  formats  %s", strings.Join(d.Formats, ", "))
		p.Line("  detect   %s", detectWords(d))
		items := d.Items
		if d.ItemsFrom != "" {
			items = append(slices.Clone(items), "those at "+d.ItemsFrom+" of its configuration")
		}
		p.Line("  items    %s", strings.Join(items, ", "))
	}
	imports, exports := newTable("IMPORT", "KIND", "TYPE"), newTable("EXPORT", "KIND", "TYPE")
	for _, i := range in.Imports {
		imports.add(i.Module+"."+i.Name, i.Kind, i.Type)
	}
	for _, e := range in.Exports {
		exports.add(e.Name, e.Kind, e.Type)
	}
	p.list(imports)
	p.list(exports)
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
	p.Line("%s  a plugin in %s", p.paint(bold, s.Name), s.Language)
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
		return !strings.ContainsRune("/._-+:", r) && r != filepath.Separator && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}
	if !strings.ContainsFunc(path, odd) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// NormalizedView is the JSON output of plugin run.
type NormalizedView struct {
	Plugin plugins.Identity `json:"plugin"`
	Report string           `json:"report"`
	abi.Answer
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
func (p *Printer) Normalized(n api.NormalizedReport) {
	about := "critic " + n.Critic
	if n.TaskID != nil {
		about += ", task " + *n.TaskID
	}
	if n.Round != nil {
		about += fmt.Sprintf(", round %d", *n.Round)
	}
	p.Line("%s  %s", p.paint(bold, pluginName(n.Plugin)), about)
	p.Line("  report  %s  %s, %d skipped", shortDigest(n.Report), textutil.Count(len(n.Findings), "finding"), len(n.Skipped))
	if len(n.Findings) > 0 {
		p.Line("")
		rows := newTable("SEVERITY", "CATEGORY", "WHERE", "FOUND BY", "REF")
		for _, f := range n.Findings {
			rows.addWithText(findingText(f), severity(f), f.Category, f.Location(), f.Critic, dimmed(f.Sources[0].Ref))
		}
		p.tableWithPlaces(rows, 2)
	}
	skipped := newTable("SKIPPED", "BECAUSE")
	for _, s := range n.Skipped {
		skipped.add(dimmed(s.Ref), s.Reason)
	}
	p.list(skipped)
	previous := newTable("PREVIOUS", "STATUS", "REF")
	for _, s := range n.Previous {
		previous.add(s.ID, s.Status, dimmed(s.Ref))
	}
	p.list(previous)
	unmapped := make([]api.Unmapped, len(n.Unmapped))
	for i, u := range n.Unmapped {
		unmapped[i] = api.Unmapped{Plugin: n.Plugin.Name, Report: n.Report, Rule: u.Rule, Category: u.Category}
	}
	p.unmappedRules(unmapped)
}

// PluginLock prints the pins of a new lock, and the removed ones.
func (p *Printer) PluginLock(l api.PluginLockResult) {
	rows := newTable("FILE", "NAME", "VERSION", "DIGEST", "PIN")
	add := func(pin project.Pin, words cell) {
		rows.add(pin.Path, pin.Name, pin.Version, shortDigest(pin.Digest), words)
	}
	words := make(map[string]cell)
	for _, c := range l.Changes {
		words[c.Path] = cell{c.Change, green}
		if c.Change == api.PinChanged {
			words[c.Path] = cell{"changed, was " + shortDigest(*c.Before), yellow}
		}
	}
	for _, pin := range l.Plugins {
		add(pin, cmp.Or(words[pin.Path], dimmed("unchanged")))
	}
	for _, c := range l.Changes {
		if c.Change == api.PinRemoved {
			add(c.Pin, cell{c.Change, yellow})
		}
	}
	p.table(rows)
	p.Line("")
	if l.Unreadable != nil {
		p.Line("note: the old lock could not be read and was replaced: %s", l.Unreadable)
	}
	p.Line("%s has %s", project.LockFile, textutil.Count(len(l.Plugins), "plugin"))
}

// Benchmark prints the cost of a plugin.
func (p *Printer) Benchmark(b api.Benchmark) {
	p.Line("%s %s  %s, %d skipped, a report of %s", p.paint(bold, b.Plugin.Name), b.Plugin.Version,
		textutil.Count(b.Findings, "finding"), b.Skipped, Size(int64(b.Bytes)))
	rows := newTable("MEASURED", "OVER", "MIN", "MEDIAN")
	for _, t := range []struct {
		name string
		api.Timing
	}{{"cold, compiled", b.Compiled}, {"cold, cached", b.Cached}, {"warm", b.Warm}, {"warm, guest", b.Guest}} {
		rows.add(t.name, textutil.Count(t.Runs, "run"), nanoseconds(t.Min), nanoseconds(t.Median))
	}
	p.list(rows)
	p.Line("")
	if b.PerFinding != nil {
		p.Line("per finding  %s, the warm median over %s", nanoseconds(*b.PerFinding), textutil.Count(b.Findings, "finding"))
	}
	p.Line("memory       %s at the end of a call", Size(b.Memory))
}

// nanoseconds formats a time with about three digits.
func nanoseconds(n int64) string {
	d := time.Duration(n)
	for unit := time.Nanosecond; unit < time.Second; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit).String()
		}
	}
	return d.Round(time.Second).String()
}

// Conformance prints the checks of a plugin and their outcomes.
func (p *Printer) Conformance(r plugintest.Report) {
	if r.Plugin.Name == "" {
		p.Line("%s  %s", p.paint(bold, "a plugin that does not load"), Size(int64(r.Size)))
	} else {
		p.Line("%s %s  %s, %s", p.paint(bold, r.Plugin.Name), r.Plugin.Version, shortDigest(r.Plugin.Digest), Size(int64(r.Size)))
	}
	all := make(map[plugintest.Status]int)
	for _, group := range plugintest.Groups() {
		counts := make(map[plugintest.Status]int)
		var shown []plugintest.Check
		for _, c := range r.Checks {
			if c.Group != group {
				continue
			}
			counts[c.Status]++
			all[c.Status]++
			if c.Detail != "" || c.Status != plugintest.Pass {
				shown = append(shown, c)
			}
		}
		if len(counts) == 0 {
			continue
		}
		words := fmt.Sprintf("%d passed", counts[plugintest.Pass])
		if failed := counts[plugintest.Fail]; failed > 0 {
			words += fmt.Sprintf(", %d failed", failed)
		}
		p.Line("")
		p.Line("%s: %s", p.paint(bold, string(group)), words)
		for _, c := range shown {
			mark := checkMarks[c.Status]
			p.Line("  %s  %s: %s", p.paint(mark.color, mark.text), c.Name, c.Detail)
		}
	}
	p.Line("")
	p.Line("%s  %s: %d passed, %d failed, %d skipped", p.mark(r.OK(), "passed", "failed"), textutil.Count(len(r.Checks), "check"), r.Passed, r.Failed, all[plugintest.Skip])
}

var checkMarks = map[plugintest.Status]cell{plugintest.Pass: {"pass", green}, plugintest.Fail: {"FAIL", red}, plugintest.Skip: {"skip", yellow}}
