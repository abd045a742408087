package main

import (
	"fmt"
	"strconv"

	"github.com/switchyard-dev/switchyard/internal/policy/check"
	"github.com/switchyard-dev/switchyard/policies"
)

// proofs shows what was proven: of one policy every invariant, of several those that
// do not hold.
func (p *page) proofs(all proofs) {
	for _, r := range all.Reports {
		p.proof(r)
	}
	if len(all.Reports) == 1 {
		p.line("")
		p.invariants(all.Reports[0].Results)
	}
	for _, r := range all.Reports {
		for _, result := range r.Results {
			if !result.Holds && result.Skipped == "" {
				p.line("")
				p.broken(r.Policy, result)
			}
		}
	}
	if all.Counterexample != nil {
		p.line("")
		p.counterexample(*all.Counterexample)
	}
}

// counterexample says how to see a policy decide on what it gets wrong.
func (p *page) counterexample(c counterexample) {
	if c.File == "" {
		p.line("--counterexample FILE writes the smallest input of these for switchyard route --input")
		return
	}
	p.line("the smallest input of these is in %s; to see the policy decide on it:", c.File)
	command := "switchyard route --explain --input " + quote(c.File)
	if c.Policy != "" {
		command += " --policy " + quote(c.Policy)
	}
	p.line("  %s", command)
}

// proof says in one line what was proven about a policy.
func (p *page) proof(r check.Report) {
	mark := p.paint(green, "proven")
	if !r.Proven() {
		mark = p.paint(red, "not proven")
	}
	p.line("%s  %s  %s and %s, %s, %s, in %d ms", mark, policyShort(r.Policy),
		plural(r.States, "state"), plural(r.Probes, "probe"), count(r.Rungs, "branch", "branches"), count(r.Categories, "category", "categories"), r.Millis)
}

func (p *page) invariants(results []check.Result) {
	rows := make([][]cell, len(results))
	for i, r := range results {
		outcome, color := "holds", green
		says := r.Says
		switch {
		case r.Skipped != "":
			outcome, color, says = "not asked", dim, r.Skipped
		case r.WaivedBy != "":
			outcome, color = "waived by "+r.WaivedBy, yellow
		case !r.Holds:
			outcome, color = "BROKEN", red
		}
		rows[i] = []cell{{string(r.Invariant), plain}, {outcome, color}, {strconv.Itoa(r.Checked), plain}, {says, plain}}
	}
	p.table([]string{"INVARIANT", "OUTCOME", "CHECKED", "SAYS"}, rows)
}

// maxViolations is how many violations of an invariant are shown as text; JSON has
// more.
const maxViolations = 3

// broken shows how an invariant is violated.
func (p *page) broken(id policies.Identity, r check.Result) {
	word := p.paint(red, "BROKEN")
	note := "no decision record can waive it"
	switch {
	case r.WaivedBy != "":
		word, note = p.paint(yellow, "waived"), "by "+r.WaivedBy
	case r.ProposedBy != "":
		note = r.ProposedBy + " waives it, which counts once the record is accepted"
	case r.Invariant == check.CategoryRaised:
		note = "say in a module of .switchyard/agents what it is for, or waive it in the policy's decision record"
	case r.Invariant == check.CategoryKnown:
		note = "give it a row in route_table, or waive it in the policy's decision record"
	case r.Waivable:
		note = "the policy's decision record may waive it"
	}
	p.line("%s  %s by %s: %s", word, r.Invariant, policyRef(id), r.Says)
	p.line("  %s; %s", plural(r.Violated, "violation"), note)
	shown := r.Violations[:min(maxViolations, len(r.Violations))]
	for _, v := range shown {
		p.violation(v)
	}
	if more := r.Violated - len(shown); more > 0 {
		p.line("  and %d more", more)
	}
}

func (p *page) violation(v check.Violation) {
	p.line("  - %s", v.Message)
	if v.Place != nil {
		p.line("    at    %s  %s", placed(*v.Place), v.Place.Text)
	}
	if v.Input != nil {
		p.answer(check.Answer{Input: *v.Input, Decision: v.Decision, Code: v.Code})
	}
	if v.Other != nil {
		p.answer(*v.Other)
	}
}

// answer shows an input and what the policy made of it.
func (p *page) answer(a check.Answer) {
	p.line("    with  %s", inputWords(a.Input))
	switch {
	case a.Decision != nil:
		p.line("    gives %s", decisionWords(*a.Decision))
	case a.Code != "":
		p.line("    gives no decision [%s]", a.Code)
	}
}

func decisionWords(d policies.Decision) string { return fmt.Sprintf("%s (%s)", d.NextAction, d.Reason) }

// count is plural for a noun with a plural of its own.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
