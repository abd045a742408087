package render

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/policy/check"
	"github.com/switchyard-dev/switchyard/internal/policy/diff"
	"github.com/switchyard-dev/switchyard/internal/policy/regotest"
	"github.com/switchyard-dev/switchyard/internal/policy/replay"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// PolicyCheck prints the result of an exhaustive check: every invariant for one policy,
// only the violated ones for several policies.
func (p *Printer) PolicyCheck(all api.PolicyChecks) {
	for _, r := range all.Reports {
		p.policyChecked(r)
	}
	if len(all.Reports) == 1 {
		p.Line("")
		p.invariants(all.Reports[0].Results)
	}
	for _, r := range all.Reports {
		for _, result := range r.Results {
			if !result.Holds && result.Skipped == "" {
				p.Line("")
				p.brokenInvariant(r.Policy, result)
			}
		}
	}
	if all.Counterexample != nil {
		p.Line("")
		p.counterexample(*all.Counterexample)
	}
}

// counterexample prints how to run the policy on the violating input.
func (p *Printer) counterexample(c api.Counterexample) {
	if c.File == "" {
		p.Line("--counterexample FILE writes the smallest input of these for switchyard route --input")
		return
	}
	p.Line("the smallest input of these is in %s; to see the policy decide on it:", c.File)
	command := "switchyard route --explain --input " + ShellQuote(c.File)
	if c.Policy != "" {
		command += " --policy " + ShellQuote(c.Policy)
	}
	p.Line("  %s", command)
}

// policyChecked prints the extent and the result of a policy's exhaustive check in one
// line.
func (p *Printer) policyChecked(r check.Report) {
	p.Line("%s  %s  %s and %s, %s, %s, in %d ms", p.mark(r.Passes(), "verified", "not verified"), policyID(r.Policy),
		textutil.Count(r.States, "representative"), textutil.Count(r.Probes, "sample"), textutil.Count(r.Branches, "branch", "branches"), textutil.Count(r.Categories, "category", "categories"), r.Millis)
}

func (p *Printer) invariants(results []check.Result) {
	rows := newTable("INVARIANT", "OUTCOME", "CHECKED", "SAYS")
	for _, r := range results {
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
		rows.add(r.Invariant, cell{outcome, color}, r.Checked, says)
	}
	p.table(rows)
}

// maxViolations is the number of violations of an invariant that are shown; JSON has
// more.
const maxViolations = 3

func (p *Printer) brokenInvariant(id routing.Identity, r check.Result) {
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
	p.Line("%s  %s by %s: %s", word, r.Invariant, PolicyRef(id), r.Says)
	p.Line("  %s; %s", textutil.Count(r.Violated, "violation"), note)
	shown := r.Violations[:min(maxViolations, len(r.Violations))]
	for _, v := range shown {
		p.violation(v)
	}
	more := r.Violated - len(shown)
	p.lineIf(more > 0, "  and %d more", more)
}

func (p *Printer) violation(v check.Violation) {
	p.Line("  - %s", v.Message)
	if v.Location != nil {
		p.Line("    at    %s  %s", locationText(*v.Location), v.Location.Text)
	}
	if v.Input != nil {
		p.answer(check.Answer{Input: *v.Input, Decision: v.Decision, Code: v.Code})
	}
	if v.Other != nil {
		p.answer(*v.Other)
	}
}

// answer prints an input and the policy's decision on it.
func (p *Printer) answer(a check.Answer) {
	p.Line("    with  %s", inputWords(a.Input, diff.FactWords(a.Input.Facts)))
	switch {
	case a.Decision != nil:
		p.Line("    gives %s", decisionWords(a.Decision.NextAction, a.Decision.Reason))
	case a.Code != "":
		p.Line("    gives no decision [%s]", a.Code)
	}
}

func decisionWords(nextAction, reason string) string { return nextAction + " (" + reason + ")" }

// TestedPolicy is the JSON output of policy test.
type TestedPolicy struct {
	Policy routing.Identity `json:"policy"`
	regotest.Report
}

// Problem returns why the tests fail, or "" if they pass.
func (t TestedPolicy) Problem(minimum int) string {
	switch n, all := t.Failed+t.Errored, textutil.Count(len(t.Tests), "test"); {
	case len(t.Tests) == 0:
		return "there are no tests"
	case n == 1:
		return "1 of " + all + " fails"
	case n > 0:
		return fmt.Sprintf("%d of %s fail", n, all)
	case t.Passed == 0:
		return "all tests are skipped"
	case t.Coverage.Percent < float64(minimum):
		return fmt.Sprintf("the tests reach %s of the lines, and %d %% are asked for", percent(t.Coverage.Percent), minimum)
	}
	return ""
}

// RegoTests prints the result of a policy's tests.
func (p *Printer) RegoTests(t TestedPolicy) {
	counts := append([]string{fmt.Sprintf("%d passed", t.Passed)}, nonZeroParts(part{t.Failed, "failed"}, part{t.Errored, "not carried out"}, part{t.Skipped, "skipped"})...)
	p.Line("%s  %s  %s: %s, in %d ms", p.mark(t.Clean(), "passed", "failed"), PolicyRef(t.Policy),
		textutil.Count(len(t.Tests), "test"), strings.Join(counts, ", "), t.Millis)
	if len(t.Tests) == 0 {
		return // Without coverage the list would be all lines.
	}
	p.Line("  reached  %s, %d of %s", percent(t.Coverage.Percent), t.Coverage.Covered, textutil.Count(t.Coverage.Lines, "line"))
	for _, test := range t.Tests {
		if test.Outcome != regotest.Passed {
			p.Line("")
			p.failedTest(test)
		}
	}
	if len(t.Coverage.Missing) > 0 {
		p.title("Not reached")
		for _, at := range t.Coverage.Missing {
			p.Line("  %s  %s", locationText(at), at.Text)
		}
	}
}

func (p *Printer) failedTest(t regotest.Test) {
	color, word := red, "FAIL"
	switch t.Outcome {
	case regotest.Skipped:
		color, word = yellow, "skip"
	case regotest.Errored:
		word = "ERROR"
	}
	p.Line("%s  %s  %s", p.paint(color, word), t.Name, locationText(t.Location))
	p.lineIf(t.Message != "", "  %s", t.Message)
	for _, c := range t.Cases {
		p.Line("  case %s", c)
	}
	if t.FailedAt != nil {
		p.Line("  %s  %s", locationText(*t.FailedAt), t.FailedAt.Text)
	}
	if t.Output != "" {
		p.block(t.Output)
	}
}

// percent formats a percentage, rounded down, without a decimal that is 0.
func percent(share float64) string {
	return tenths(int64(share*10), 10) + " %"
}

// maxFlipsShown is the number of changed decisions that are shown; JSON has more.
const maxFlipsShown = 20

// Replay prints the decisions of a candidate on recorded rounds.
func (p *Printer) Replay(r replay.Report) {
	p.Line("%s  %s by %s", p.paint(bold, "replayed"), textutil.Count(r.Decisions, "decision"), policyName(r.Candidate))
	for _, u := range r.Policies {
		p.Line("  %d decided by %s", u.Decisions, policyID(u.Policy))
	}
	if r.ChangedCount() == 0 {
		p.Line("%s  no decision changes", p.paint(green, "same"))
	} else {
		p.Line("%s  %s of %d would go elsewhere", p.paint(yellow, "changed"), textutil.Count(r.ChangedCount(), "decision"), r.Decisions)
	}
	rows := newTable("FROM", "TO", "DECISIONS")
	for _, c := range r.Matrix {
		color := plain
		if c.From != c.To {
			color = yellow
		}
		rows.add(action(c.From), action(c.To), cell{strconv.FormatInt(c.Count, 10), color})
	}
	p.list(rows)
	rows = newTable("TASK", "ROUND", "FROM", "TO", "REASON", "BECAUSE")
	shown := r.Changed[:min(maxFlipsShown, len(r.Changed))]
	for _, f := range shown {
		causes := make([]string, len(f.Causes))
		for i, c := range f.Causes {
			causes[i] = c.String()
		}
		rows.add(f.Task, f.Round, action(f.From.NextAction), action(f.To.NextAction),
			fmt.Sprintf("%s to %s", f.From.Reason, f.To.Reason), dimmed(strings.Join(causes, "; ")))
	}
	p.list(rows)
	more := r.ChangedCount() - int64(len(shown))
	p.lineIf(more > 0, "and %d more", more)
	rows = newTable("BAR", "NOW", "REVIEWS")
	for _, c := range r.Bars {
		rows.add(c.From, c.To, c.Count)
	}
	p.list(rows)
	p.playedTasks(r.Played)
}

func (p *Printer) playedTasks(played *replay.Played) {
	if played == nil {
		return
	}
	p.title("Tasks played on")
	p.Line("  %d end in the same round, %d earlier (%s saved), %d would go on after the record ends, %d are open in both",
		played.Same, played.Earlier, textutil.Count(played.SavedRounds, "decision"), played.Beyond, played.Open)
	rows := newTable("TASK", "RECORDED", "ROUND", "NOW", "ROUND", "DEFERRED")
	for _, t := range played.Tasks[:min(maxFlipsShown, len(played.Tasks))] {
		now := "goes on (" + t.Decision.Reason + ")"
		if t.Ended {
			now = decisionWords(t.Decision.NextAction, t.Decision.Reason)
		}
		rows.add(t.Task, decisionWords(t.Recorded.NextAction, t.Recorded.Reason), t.Round, now, t.DecidedRound, t.Deferred)
	}
	p.list(rows)
}
