package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// TestBarOfADecision tests what is said of the reasons for a bar.
func TestBarOfADecision(t *testing.T) {
	saw := &routing.Input{FindingCount: 4, Facts: &routing.Facts{FirstTimeCount: 2, BlockingCount: 1, RoundsLeft: 1, ReviewsSinceLow: 2, InducedRounds: 1}}
	for _, c := range []struct {
		d    api.Decision
		want string
	}{
		{api.Decision{}, ""},
		{api.Decision{Bar: routing.BarAll, PolicyBar: routing.BarAll, BarInput: saw}, ""},
		{api.Decision{Bar: "risk", PolicyBar: "risk", BarSince: 2, BarInput: saw}, "  bar risk since round 2: 0 findings deferred\n" +
			"    the policy saw 4 findings, 2 for the first time, 1 blocking; 1 round left; 2 reviews with more new findings than one before; 1 review whose failures the last fix caused\n"},
		{api.Decision{Bar: "fail", PolicyBar: "risk", BarSince: 1, BarInput: saw, Deferred: make([]finding.Finding, 1)}, "  bar fail since round 1: 1 finding deferred\n" +
			"    it never falls within a task; this review alone would have the bar risk\n"},
		{api.Decision{Bar: "fail", PolicyBar: "fail"}, "  bar fail: 0 findings deferred\n"},
	} {
		var out bytes.Buffer
		(&Printer{w: &out}).bar(c.d)
		if got := out.String(); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
}

// TestChurnOfAnyPolicy tests that a policy without a bar can have the reason churn.
func TestChurnOfAnyPolicy(t *testing.T) {
	for want, in := range map[string]routing.Input{
		"the policy says churn":                          {},
		"the last fixes caused all failures of 1 review": {Facts: &routing.Facts{InducedRounds: 1}},
	} {
		if got := because(api.Decision{Reason: "churn", Input: in}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestCommitEvidenceNamesDeferredFindings(t *testing.T) {
	var out bytes.Buffer
	(&Printer{w: &out}).commitEvidence(api.CommitEvidence{SHA: "c1", Tree: "t1", Branch: "b", Matches: true, Deferred: []string{"f1 nit style a.go:1", "and 2 more"}})
	want := "commit c1  reviewed: its tree t1 is the one that was decided on\n  branch b\n  deferred f1 nit style a.go:1\n  deferred and 2 more\n\n"
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestManyDeferredFindingsAreCut has 30,000 findings with long texts.
func TestManyDeferredFindingsAreCut(t *testing.T) {
	file := "a.go"
	f := finding.Finding{Severity: finding.Nit, Category: "style", File: &file, Remediation: strings.Repeat("x\n", 1000)}
	all, listed := make([]finding.Finding, 30_000), make([]api.ListedFinding, 30_000)
	for i := range all {
		all[i], listed[i] = f, api.ListedFinding{Round: 2, Finding: f}
	}
	var out bytes.Buffer
	p := &Printer{w: &out}
	p.deferredFindings("T", all)
	row := "nit       style     a.go   " + strings.Repeat("x ", 50) + "…\n"
	want := "\nDEFERRED  CATEGORY  WHERE  TO DO\n" + strings.Repeat(row, 10) + "… and 29990 more: switchyard findings T --deferred\n"
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	out.Reset()
	p.FindingList(api.FindingList{TaskID: "T", Round: 2, Bar: "risk", Deferred: true, Findings: listed})
	head, end := "30000 findings deferred  T, review of round 2, bar risk\n\n", "… and 29800 more: --output json has them\n"
	if got := out.String(); !strings.HasPrefix(got, head) || !strings.HasSuffix(got, end) || strings.Count(got, "  nit ") != 200 {
		t.Errorf("got\n%.300s", got)
	}
}
