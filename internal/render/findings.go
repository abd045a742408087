package render

import (
	"fmt"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Numbers of findings that are shown; JSON has all.
const (
	maxDeferred = 10  // below a decision
	maxListed   = 200 // in a list
)

// maxDeferredText is the number of code points shown of a deferred finding's remediation.
const maxDeferredText = 100

// bar prints the bar of a decision, unless it is all, and the facts that it follows from.
func (p *Printer) bar(d api.Decision) {
	if !d.Bar.Above(routing.BarAll) {
		return
	}
	p.Line("  %s: %s", barWords(string(d.Bar), d.BarSince), deferredWords(len(d.Deferred)))
	if d.PolicyBar != d.Bar {
		p.Line("    it never falls within a task; this review alone would have the bar %s", d.PolicyBar)
	} else if in := d.BarInput; in != nil && in.Facts != nil { // A ledger is not trusted.
		p.Line("    the policy saw %s", barFacts(*in))
	}
}

// barWords describes a bar that defers findings. since is 0 without a task.
func barWords(bar string, since int) string {
	if since == 0 {
		return "bar " + bar
	}
	return fmt.Sprintf("bar %s since round %d", bar, since)
}

func deferredWords(n int) string { return textutil.Count(n, "finding") + " deferred" }

// barFacts returns the facts of a review that bars follow from.
func barFacts(in routing.Input) string {
	words := []string{
		fmt.Sprintf("%s, %d for the first time, %d blocking", textutil.Count(in.FindingCount, "finding"), in.FirstTimeCount, in.BlockingCount),
		textutil.Count(in.RoundsLeft, "round") + " left",
	}
	if n := in.ReviewsSinceLow; n > 0 {
		words = append(words, fmt.Sprintf("%s with more new findings than one before", textutil.Count(n, "review")))
	}
	if n := in.InducedRounds; n > 0 {
		words = append(words, fmt.Sprintf("%s whose failures the last fix caused", textutil.Count(n, "review")))
	}
	return strings.Join(words, "; ")
}

// deferredFindings prints the first deferred findings, in a row each.
func (p *Printer) deferredFindings(id string, all []finding.Finding) {
	rows := newTable("DEFERRED", "CATEGORY", "WHERE", "TO DO")
	for _, f := range all[:min(len(all), maxDeferred)] {
		rows.add(severity(f), f.Category, f.Location(), textutil.Clip(f.Remediation, maxDeferredText))
	}
	p.list(rows)
	more, command := len(all)-maxDeferred, ""
	if id != "" {
		command = ": switchyard findings " + id + " --deferred"
	}
	p.lineIf(more > 0, "… and %d more%s", more, command)
}

// FindingList prints the first findings of a list.
func (p *Printer) FindingList(l api.FindingList) {
	what := "open"
	if l.Deferred {
		what = "deferred"
	}
	review := "no review"
	if l.Round > 0 {
		review = fmt.Sprintf("review of round %d", l.Round)
	}
	if l.Bar != "" {
		review += ", bar " + string(l.Bar)
	}
	p.Line("%s %s  %s, %s", textutil.Count(len(l.Findings), "finding"), what, l.TaskID, review)
	if len(l.Findings) == 0 {
		return
	}
	shown := l.Findings[:min(len(l.Findings), maxListed)]
	findings := make([]finding.Finding, len(shown))
	rounds := make([]int, len(shown))
	for i, f := range shown {
		findings[i], rounds[i] = f.Finding, f.Round
	}
	if !l.Deferred {
		rounds = nil
	}
	p.Line("")
	p.findings(findings, rounds)
	p.lineIf(len(l.Findings) > len(shown), "… and %d more: --output json has them", len(l.Findings)-len(shown))
}
