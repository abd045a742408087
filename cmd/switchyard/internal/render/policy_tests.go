package render

import (
	"fmt"

	"github.com/switchyard-dev/switchyard/internal/policy/regotest"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/policies"
)

// TestedPolicy is the JSON output of policy test.
type TestedPolicy struct {
	Policy policies.Identity `json:"policy"`
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
		return fmt.Sprintf("the tests reach %s of the lines, and %d %% are asked for", Percent(t.Coverage.Percent), minimum)
	}
	return ""
}

// RegoTests prints the result of a policy's tests.
func (p *Printer) RegoTests(t TestedPolicy) {
	mark := p.Paint(Green, "passed")
	if !t.Clean() {
		mark = p.Paint(Red, "failed")
	}
	counts := fmt.Sprintf("%s: %d passed", textutil.Count(len(t.Tests), "test"), t.Passed)
	for _, more := range []struct {
		n    int
		word string
	}{{t.Failed, "failed"}, {t.Errored, "not carried out"}, {t.Skipped, "skipped"}} {
		if more.n > 0 {
			counts += fmt.Sprintf(", %d %s", more.n, more.word)
		}
	}
	p.Line("%s  %s  %s, in %d ms", mark, PolicyRef(t.Policy), counts, t.Millis)
	if len(t.Tests) == 0 {
		return // Without coverage the list would be all lines.
	}
	p.Line("  reached  %s, %d of %s", Percent(t.Coverage.Percent), t.Coverage.Covered, textutil.Count(t.Coverage.Lines, "line"))
	for _, test := range t.Tests {
		if test.Outcome != regotest.Passed {
			p.Line("")
			p.failedTest(test)
		}
	}
	if len(t.Coverage.Missing) > 0 {
		p.Line("")
		p.Line("%s", p.Paint(Bold, "Not reached"))
		for _, at := range t.Coverage.Missing {
			p.Line("  %s  %s", placed(at), at.Text)
		}
	}
}

func (p *Printer) failedTest(t regotest.Test) {
	color, word := Red, "FAIL"
	switch t.Outcome {
	case regotest.Skipped:
		color, word = Yellow, "skip"
	case regotest.Errored:
		word = "ERROR"
	}
	p.Line("%s  %s  %s", p.Paint(color, word), t.Name, placed(t.Location))
	if t.Message != "" {
		p.Line("  %s", t.Message)
	}
	for _, c := range t.Cases {
		p.Line("  case %s", c)
	}
	if t.FailedAt != nil {
		p.Line("  %s  %s", placed(*t.FailedAt), t.FailedAt.Text)
	}
	for _, l := range t.Locals {
		p.Line("    %s = %s", l.Name, l.Value)
	}
	if t.Output != "" {
		p.block(t.Output)
	}
}

// Percent formats a share, rounded down, without a decimal that is 0.
func Percent(share float64) string {
	return tenths(int64(share*10), 10) + " %"
}
