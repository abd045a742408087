package stats_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/stats"
)

func evaluationHTML(t testing.TB, e api.Evaluation) string {
	t.Helper()
	var text strings.Builder
	if err := stats.EvaluationHTML(&text, e, about()); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// hostileEvaluation has a hostile name wherever an evaluation has a text of others.
func hostileEvaluation() (e api.Evaluation) {
	for i, name := range hostileNames() {
		action := []string{"commit", "executor", api.ActionFailed}[i%3]
		c := api.EvaluatedCommit{Commit: fmt.Sprintf("%040d", i), Subject: name, NextAction: action, Reason: name, Verify: "green", Findings: i}
		if action == "executor" {
			c.Output = name
		}
		if action == api.ActionFailed {
			c.Error = errs.New(errs.ReportCommandFailed, "%s", name)
		}
		e.Commits = append(e.Commits, c)
		e.Outcomes = append(e.Outcomes, api.EvaluatedOutcome{NextAction: action, Reason: name, Commits: 1})
		for _, route := range []string{"executor", name} {
			e.Rules = append(e.Rules, api.EvaluatedRule{Rule: name, Route: route, Commits: 1, Findings: 2})
		}
		e.Submodules = append(e.Submodules, name)
	}
	return e
}

// TestEvaluationPage checks that the page of an evaluation states its numbers, and shows
// names as text.
func TestEvaluationPage(t *testing.T) {
	t.Parallel()
	e := hostileEvaluation()
	page := parse(t, evaluationHTML(t, e))
	var figures []string
	for _, n := range page.named("dd") {
		figures = append(figures, n.words())
	}
	if got, want := fmt.Sprint(figures), "[637.5 % of 16 commits 531.2 % 5see the commits]"; got != want {
		t.Errorf("figures %s, want %s", got, want)
	}
	commits := page.table(t, "The latest first")
	if got, want := strings.Join(commits[0], "|"), `</script><script>alert(1)</script>000000000000|commit</script><script>alert(1)</script>|green|0`; len(commits) != len(e.Commits) || got != want {
		t.Errorf("%d commits, the first %q, want %q", len(commits), got, want)
	}
	if got := commits[1][1]; !strings.HasSuffix(got, `: </title></svg></style><img src=x onerror=alert(2)>`) {
		t.Errorf("a commit with output is %q", got)
	}
	if got := commits[2]; got[2] != "–" || got[3] != "–" || !strings.HasSuffix(got[1], `: " onload="alert(3)`) {
		t.Errorf("a commit without a decision is %q", got)
	}
	if rules := page.table(t, "Commits by rule, and where its findings go"); len(rules) != 20 {
		t.Errorf("%d rules", len(rules))
	}
	if more := "and 12 more rules (switchyard evaluate --output json lists all)"; !strings.Contains(page.text.String(), more) {
		t.Errorf("it does not say %q", more)
	}
}
