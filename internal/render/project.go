package render

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/compat/nubospilot"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/metrics"
)

// LedgerReport is the JSON output of ledger verify.
type LedgerReport struct {
	ledger.Report
	Transcripts api.TranscriptCheck `json:"transcripts"`
	// Decisions is nil unless the decisions were checked too.
	Decisions *api.DecisionsReport `json:"decisions,omitzero"`
}

// Ledger prints the result of a ledger check, and its chains if chains is set.
func (p *Printer) Ledger(r LedgerReport, chains bool) {
	p.lineIf(r.Sound(), "%s  %s in %s", p.paint(green, "intact"), textutil.Count(r.Events, "event"), textutil.Count(r.Tasks, "chain"))
	p.ledgerProblems(r.Problems, r.Omitted)
	if chains {
		rows := newTable("CHAIN", "EVENTS", "LATEST HASH")
		for _, h := range r.Heads {
			rows.add(h.Task, h.N, h.Hash)
		}
		p.list(rows)
	}
	p.transcriptCheck(r.Transcripts, chains)
	d := r.Decisions
	if d == nil {
		return
	}
	p.lineIf(d.Sound(), "%s  %s decided again, all as recorded", p.paint(green, "sound"), textutil.Count(d.Decisions, "round"))
	p.ledgerProblems(d.Problems, d.Omitted)
	for _, policy := range d.Lost {
		p.Line("%s  policy %s decided %s", p.paint(red, "lost"), policyID(policy.Policy), textutil.Count(policy.Decisions, "round"))
	}
}

// Compaction prints the sizes of the ledger before and after.
func (p *Printer) Compaction(c ledger.Compaction) {
	rows := newTable("", "BEFORE", "AFTER")
	rows.add("database", Size(c.Before.Database), Size(c.After.Database))
	rows.add("log", Size(c.Before.Log), Size(c.After.Log))
	p.table(rows)
}

// Archived prints how much was moved to the ledger's archive.
func (p *Printer) Archived(a ledger.Archived) {
	if a.Events == 0 {
		p.Line("nothing to archive: no task was committed that long ago")
		return
	}
	p.Line("archived  %s of %s: %s became %s", textutil.Count(a.Events, "event"), textutil.Count(a.Tasks, "task"), Size(a.Bodies), Size(a.Archive))
	p.Line("next: give back the space: switchyard ledger compact")
}

// maxLedgerProblems is the number of a ledger's problems that are shown; JSON has more.
const maxLedgerProblems = 10

func (p *Printer) ledgerProblems(all []ledger.Problem, omitted int64) {
	for _, problem := range all[:min(len(all), maxLedgerProblems)] {
		p.Line("%s  %s", p.paint(red, "changed"), problem)
	}
	more := int64(max(len(all)-maxLedgerProblems, 0)) + omitted
	p.lineIf(more > 0, "and %d more", more)
}

// Initialized is the result of init.
type Initialized struct {
	// Folder is the project's root.
	Folder  string   `json:"folder"`
	Created []string `json:"created"`
	// Tasks are the imported tasks, and Left describes the rest. Both are nil without
	// --from.
	Tasks []api.TaskStatus  `json:"tasks,omitzero"`
	Left  []nubospilot.Left `json:"left,omitzero"`
	// Adapters name the known agent CLIs that are installed.
	Adapters []string `json:"adapters"`
	// Git is set if Folder is the top of a git checkout, which run needs.
	Git bool `json:"-"`
	// Within is the top of the git checkout that Folder is a part of, or "".
	Within string `json:"-"`
}

// Init prints the result of init.
func (p *Printer) Init(i Initialized) {
	p.lineIf(len(i.Created) == 0, "nothing to create: %s is set up", i.Folder)
	for _, file := range i.Created {
		p.Line("created %s", filepath.Join(i.Folder, filepath.FromSlash(file)))
	}
	for _, t := range i.Tasks {
		p.Line("took over %s: %s, round %s", t.TaskID, p.paint(statusColors[t.Status], string(t.Status)), RoundOf(t.Round, t.MaxRounds, t.HardCap))
	}
	if len(i.Left) > 0 {
		p.title("Not taken over")
		rows := newTable("WHAT", "WHY")
		for _, left := range i.Left {
			rows.add(left.What, left.Why)
		}
		p.table(rows)
	}
	p.Line("")
	if len(i.Adapters) > 0 {
		p.Line("agent CLIs that are installed: %s", strings.Join(i.Adapters, ", "))
	} else {
		p.Line("agent CLIs that are installed: none; a round needs reports in %s, or --report FILE", project.ConfigFile)
	}
	p.lineIf(i.Within != "", "note: %s is a part of the git repository in %s: rounds work here, but switchyard run needs the project at its top", i.Folder, i.Within)
	then := "switchyard round TASK"
	if len(i.Adapters) > 0 && i.Git {
		then = "switchyard run TASK --prompt TEXT"
	}
	now := "set verify and reports in " + project.ConfigFile
	if slices.Contains(i.Created, project.ConfigFile) {
		now += ", where they are as comments"
	}
	p.next(step{now, then})
}

// Health prints the result of doctor.
func (p *Printer) Health(h api.Health) {
	for _, c := range h.Checks {
		mark, text := p.mark(c.OK, "ok", "broken"), c.Text
		if c.Unused {
			mark, text = p.paint(yellow, "unused"), "only switchyard run needs it: "+text
		}
		if c.Code != "" {
			text += " [" + string(c.Code) + "]"
		}
		p.Line("%s  %s: %s", mark, c.Name, text)
		for _, problem := range c.Problems {
			p.Line("  %s", problem)
		}
		if !c.Unused {
			p.hintOfProblem(c.Code)
		}
	}
	rows := newTable("ADAPTER", "STATE", "VERSION", "TESTED", "PROGRAM")
	for _, ad := range h.Adapters {
		state, color := "ok", green
		switch {
		case !ad.OK && ad.Used:
			state, color = "broken", red
		case !ad.OK:
			state, color = "unused", dim
		case !ad.KnownVersion:
			state, color = "untested", yellow
		}
		rows.add(ad.Name, cell{state, color}, orDash(ad.Version), dimmed(orDash(strings.Join(ad.Tested, ", "))), cmp.Or(ad.Problem, ad.Binary))
	}
	p.list(rows)
	rows = newTable("AGENT", "KIND", "DEFINED IN", "PROBLEM")
	for _, ag := range h.Agents {
		kind := "agent"
		if ag.Module {
			kind = "module"
		}
		rows.add(ag.Name, kind, dimmed(cmp.Or(ag.Path, "built in")), cell{ag.Problem, yellow})
	}
	p.list(rows)
	if h.Probe != nil {
		p.title("The probe")
		p.spawns([]api.SpawnSummary{*h.Probe})
	}
}

// Push prints the result of a push.
func (p *Printer) Push(got metrics.PushResult) {
	var group []string
	for _, name := range slices.Sorted(maps.Keys(got.Grouping)) {
		group = append(group, name+"="+got.Grouping[name])
	}
	what := "removed the metrics"
	if !got.Deleted {
		what = "pushed " + textutil.Count(got.Families, "metric")
	}
	p.Line("%s  %s at %s of %s", p.paint(green, "done"), what, got.URL, strings.Join(group, ", "))
	p.lineIf(got.Attempts > 1, "      after %d attempts", got.Attempts)
}
