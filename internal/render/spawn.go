package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// agents prints the agents that ran for a round, and the results of its researchers.
func (p *Printer) agents(spawns []api.SpawnSummary, r *api.Research) {
	if len(spawns) > 0 {
		p.Line("")
		p.spawns(spawns)
	}
	if r != nil {
		p.Line("")
		p.Line("researched for round %d: %s of %d answered, agreement %s", r.Round, textutil.Count(r.K-len(r.Silent), "researcher"), r.K, strconv.FormatFloat(r.AgreementScore, 'f', 3, 64))
		for _, s := range r.Silent {
			p.Line("  %s %d failed: %s", p.paint(yellow, "researcher"), s.Index, s.Failure)
		}
		p.Line("  %s", r.Path)
	}
}

func (p *Printer) spawns(all []api.SpawnSummary) {
	rows := newTable("AGENT", "ADAPTER", "ATTEMPT", "OUTCOME", "TOOK", "TOKENS", "COST", "RUN")
	for _, s := range all {
		color := plain
		if !s.Outcome.Good() {
			color = red
		}
		result := string(s.Outcome)
		if s.Reason != "" && string(s.Reason) != result {
			result += ": " + string(s.Reason)
		}
		why := s.Why
		if s.Resumed {
			why += ", earlier"
		}
		rows.add(s.Agent, s.Adapter, why, cell{result, color}, seconds(s.DurationMS), tokenCount(s), dollars(s.CostMicroDollars), dimmed(s.Run))
	}
	p.table(rows)
	for _, s := range all {
		switch changed := textutil.List(s.Changed, MaxNamed); {
		case changed == "":
		case s.Outcome == outcome.Edited:
			p.Line("%s edited: %s", s.Run, changed)
		default:
			p.Line("while %s ran the working tree changed: %s", p.paint(red, s.Run), changed)
		}
		words := s.Said
		if last := textutil.Fit(lastLine(s.Stderr), maxStderrShown); !s.Outcome.Good() && last != "" && !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, last) }) {
			words = append(slices.Clone(words), last)
		}
		for _, w := range words {
			p.Line("%s said: %s", s.Run, textutil.Fit(w, maxStderrShown))
		}
		if hosts := textutil.List(s.Refused, MaxNamed); !s.Outcome.Good() && hosts != "" {
			p.Line("the proxy refused to %s: %s", s.Run, hosts)
		}
	}
}

// maxStderrShown is the number of code points shown of an agent's standard error.
const maxStderrShown = 300

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

func seconds(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	if d > time.Second {
		d = d.Round(100 * time.Millisecond)
	}
	return d.String()
}

// unknown stands for a number that was not reported.
const unknown = "?"

func tokenCount(s api.SpawnSummary) string {
	if s.TokensIn == nil || s.TokensOut == nil {
		return unknown
	}
	return fmt.Sprintf("%d in, %d out", *s.TokensIn, *s.TokensOut)
}

func dollars(micros *int64) string {
	if micros == nil {
		return unknown
	}
	return fmt.Sprintf("$%d.%04d", *micros/1e6, *micros%1e6/100)
}

// spentWords returns the resources that a task's agents have used.
func spentWords(s task.Spending) string {
	return strings.Join(append([]string{textutil.Count(s.Runs, "run")}, amountWords(s.Task)...), ", ")
}

// raiseWords describes an addition to a budget.
func raiseWords(r task.Raise) string {
	var words []string
	if r.Rounds > 0 {
		words = append(words, textutil.Count(r.Rounds, "round"))
	}
	return strings.Join(append(words, amountWords(r.Amount)...), ", ")
}

// amountWords returns the parts of an amount that are not 0.
func amountWords(a task.Amount) []string {
	var words []string
	if a.Millis > 0 {
		words = append(words, seconds(a.Millis))
	}
	if a.Tokens > 0 {
		words = append(words, fmt.Sprintf("%d tokens", a.Tokens))
	}
	if a.MicroDollars > 0 {
		words = append(words, dollars(&a.MicroDollars))
	}
	return words
}

// SpawnResult prints the result of a spawn outside any task.
func (p *Printer) SpawnResult(s api.SpawnResult) {
	p.Line("%s  %s by %s", p.paint(green, string(s.Outcome)), s.Agent, s.Adapter)
	p.Line("  output: %s (%s)", s.OutputPath, Size(s.OutputBytes))
	p.Line("")
	p.spawns(s.Attempts)
}
