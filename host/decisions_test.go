package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/policy/replay"
	"github.com/switchyard-dev/switchyard/policies"
)

// checked returns the report of VerifyDecisions.
func checked(t testing.TB, e *host.Engine) api.DecisionsReport {
	t.Helper()
	report, err := e.Policies().VerifyDecisions(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestDecisionsAreThoseOfTheirPolicy(t *testing.T) {
	a := newArchive(t, 25)
	want := int64(len(a.decided(t)))
	var last int64
	report, err := a.Policies().VerifyDecisions(t.Context(), func(done, total int64) {
		if done <= last || done > total {
			t.Errorf("event %d of %d comes after %d", done, total, last)
		}
		last = done
	})
	if err != nil || !report.Sound() || report.Decisions != want {
		t.Errorf("got %+v, %v; want %d decisions", report, err, want)
	}
}

func TestNoDecisionsAreSound(t *testing.T) {
	if report := checked(t, newEngine(t, t.TempDir(), noon)); !report.Sound() || report.Decisions != 0 {
		t.Errorf("got %+v", report)
	}
}

// TestHeadlessDecisions checks that decisions with spawned agents can be verified, also
// those of a failed critic.
func TestHeadlessDecisions(t *testing.T) {
	for name, c := range map[string]struct {
		play fakeagent.Scenario
		to   string
	}{
		"findings": {fakeagent.Finds(fakeagent.Finding{Category: "style"}), "executor"},
		"nothing":  {fakeagent.CannotWrite(), "stuck"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, once, c.play)
			if d, err := s.round(t); err != nil || d.NextAction != c.to {
				t.Fatalf("went to %q, %v; want %s", d.NextAction, err, c.to)
			}
			e := s.engine(t, time.Now)
			if report := checked(t, e); !report.Sound() || report.Decisions != 1 {
				t.Errorf("got %+v", report)
			}
			report, err := e.Policies().Replay(t.Context(), api.ReplayRequest{Policy: policy(t, policies.Default)})
			if err != nil || report.Decisions != 1 || report.ChangedCount() != 0 {
				t.Errorf("got %+v, %v", report, err)
			}
		})
	}
}

// TestDecisionsWithoutAReview checks that a red draft's decision, which has no findings,
// can be verified.
func TestDecisionsWithoutAReview(t *testing.T) {
	s := newSummarized(t)
	s.red("T")
	s.red("T")
	if report := checked(t, s.Engine); !report.Sound() || report.Decisions != 2 {
		t.Errorf("got %+v", report)
	}
	report, err := s.Policies().Replay(t.Context(), api.ReplayRequest{Policy: policy(t, policies.Default)})
	if err != nil || len(report.Matrix) != 1 || report.Matrix[0] != (replay.Cell{From: "executor", To: "executor", Count: 2}) {
		t.Errorf("got %+v, %v", report, err)
	}
}

// TestForgedDecisions checks that a changed record is detected although its hashes match,
// because its policy decides otherwise.
func TestForgedDecisions(t *testing.T) {
	whole := newRecord(t, "S", "T")
	replace := func(pairs ...string) func(string) string { return strings.NewReplacer(pairs...).Replace }
	for name, c := range map[string]struct {
		forge func(body string) string
		kind  ledger.ProblemKind
		says  string
	}{
		"another decision":   {replace(`"next_action":"executor"`, `"next_action":"researcher"`), api.ProblemDecision, "sends it to executor"},
		"another reason":     {replace(`"reason":"routed"`, `"reason":"guessed"`), api.ProblemDecision, "guessed"},
		"another kind":       {replace(`"kind":"agent"`, `"kind":"human"`), api.ProblemDecision, "of kind agent"},
		"stuck":              {replace(`"stuck":false`, `"stuck":true`), api.ProblemDecision, "of kind agent"},
		"another category":   {replace(`"category":"style"`, `"category":"question-to-user"`), api.ProblemRoute, "sends them to askuser"},
		"another route":      {replace(`"route":"executor"`, `"route":"researcher"`, `"executor":1`, `"researcher":1`), api.ProblemRoute, "sends them to executor"},
		"said to be unknown": {replace(`"route":"executor"`, `"route":"executor","unknown_category":true`), api.ProblemRoute, "which knows it"},
		"another version":    {replace(`"version":"1.3.0"`, `"version":"1.1.0"`, `routing@1.3.0`, `routing@1.1.0`), api.ProblemPolicy, "routing@1.3.0 of ADR-0024"},
		"another ADR":        {replace(`"adr":"ADR-0024"`, `"adr":"ADR-0009"`), api.ProblemPolicy, "ADR-0009"},
		"another cap":        {replace(`"max_rounds":3`, `"max_rounds":1`), api.ProblemDecision, "max-rounds"},
		"more findings":      {replace(`"finding_count":1`, `"finding_count":2`), api.ProblemRecord, "findings"},
		"routes of its own":  {replace(`"executor":1`, `"executor":2`), api.ProblemRecord, "routes"},
		"two caps":           {replaceFirst(`"max_rounds":3`, `"max_rounds":4`), api.ProblemRecord, "max_rounds"},
		"two verifications":  {replaceFirst(`"verify":"absent"`, `"verify":"green"`), api.ProblemRecord, "verify"},
		"two decisions":      {replaceFirst(`"next_action":"executor"`, `"next_action":"commit"`), api.ProblemRecord, "next_action"},
		"another next round": {replace(`"next_round":2`, `"next_round":1`), api.ProblemDecision, "in round 1 after round 1"},
		"two next rounds":    {replaceFirst(`"next_round":2`, `"next_round":1`), api.ProblemRecord, "next_round"},
		"a past to come":     {replaceFirst(`"policy":`, `"stalled":1,"policy":`), api.ProblemRecord, "stalled_rounds"},
		"two pasts":          {replaceFirst(`"new_count":1`, `"new_count":0`), api.ProblemRecord, "progress"},
		"a past that cannot": {replace(`"new_count":1`, `"new_count":0`), api.ProblemDecision, "policy-invalid-input"},
		"no decision at all": {func(string) string { return `{}` }, api.ProblemRecord, "lacks the decision"},
	} {
		t.Run(name, func(t *testing.T) {
			a := whole.copied(t)
			e := a.decided(t)[1].Event
			a.forge(t, e, c.forge)
			report := checked(t, a.Engine)
			if report.Sound() || report.Decisions != 2 {
				t.Fatalf("got %+v", report)
			}
			for _, p := range report.Problems {
				if p.Task != "T" || p.N != e.N || p.Seq != e.Seq {
					t.Errorf("event %d of task %s is to blame: %+v", e.N, e.Task, p)
				}
				if p.Kind == c.kind && strings.Contains(p.Message, c.says) {
					return
				}
			}
			t.Errorf("got %+v, want %s", report.Problems, c.kind)
		})
	}
}

func replaceFirst(was, is string) func(string) string {
	return func(body string) string { return strings.Replace(body, was, is, 1) }
}

// TestEditedDecisionIsDetected checks that a changed record with its old hash is detected.
func TestEditedDecisionIsDetected(t *testing.T) {
	a := newRecord(t, "S", "T")
	a.edit(t, `UPDATE events SET body = replace(body, '"by":', '"By":') WHERE kind = 'round-decided'`)
	report := checked(t, a.Engine)
	if int64(len(report.Problems)) != report.Decisions || report.Decisions == 0 {
		t.Fatalf("got %+v", report)
	}
	for _, p := range report.Problems {
		if p.Kind != api.ProblemRecord {
			t.Errorf("got %+v", p)
		}
	}
}

// withOwnPolicy returns an archive with two decisions of a project policy whose files are
// gone.
func withOwnPolicy(t *testing.T) *archive {
	t.Helper()
	a := &archive{root: t.TempDir()}
	a.Engine = newEngine(t, a.root, noon)
	dir := filepath.Join(a.root, "own")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	own := rerouted(t, "style", "plan-checker").Sources()
	if err := os.WriteFile(filepath.Join(dir, own[0].Name), []byte(own[0].Text), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		r := request(issues)
		r.Policy = dir
		if d, err := a.Round(t.Context(), fmt.Sprint("T-", i), r); err != nil || d.NextAction != "plan-checker" {
			t.Fatalf("went to %s, %v", d.NextAction, err)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestStoredPolicyNeedsNoFiles checks that decisions are verified with the ledger's copy of
// the policy, and reported as unchecked without it.
func TestStoredPolicyNeedsNoFiles(t *testing.T) {
	a := withOwnPolicy(t)
	if _, err := a.Round(t.Context(), "U", request(issues)); err != nil {
		t.Fatal(err)
	}
	if report := checked(t, newEngine(t, a.root, noon)); !report.Sound() || report.Decisions != 3 {
		t.Errorf("got %+v", report)
	}

	lost := a.decided(t)[0].Policy
	a.edit(t, `DELETE FROM entries WHERE task = '_policies' AND key = ?`, "policy/"+lost.Digest)
	report := checked(t, newEngine(t, a.root, noon))
	if report.Sound() || report.Decisions != 3 || report.Unchecked != 2 || len(report.Problems) != 0 {
		t.Errorf("got %+v", report)
	}
	if len(report.Lost) != 1 || report.Lost[0].Policy != lost || report.Lost[0].Decisions != 2 {
		t.Errorf("lost are %+v, want %s", report.Lost, lost.Digest)
	}
}

// TestPolicyThatIsRefusedIsUnavailable checks that a decision can be explained and replayed if
// this program refuses the policy that made it.
func TestPolicyThatIsRefusedIsUnavailable(t *testing.T) {
	a := withOwnPolicy(t)
	for e, err := range a.Events(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == "policy-kept" {
			a.forge(t, e, replaceFirst(`"name":"routing.rego"`, `"name":"routing.txt"`))
		}
	}
	again := newEngine(t, a.root, noon)
	if x, err := again.Explain(t.Context(), "T-0", 0); err != nil || x.Decision == nil || x.Why != nil {
		t.Errorf("explained are %+v, %v", x, err)
	}
	report, err := again.Policies().Replay(t.Context(), api.ReplayRequest{Policy: policy(t, policies.Default), PlayOn: true})
	if err != nil || report.Decisions != 2 {
		t.Errorf("replayed are %+v, %v", report, err)
	}
}

// TestForgedPolicyIsDetected checks that a stored policy must match its digest.
func TestForgedPolicyIsDetected(t *testing.T) {
	for name, forgery := range map[string][2]string{"another policy": {"Where a task goes", "Whither a task goes"}, "no policy": {"route_table", "root_table"}} {
		t.Run(name, func(t *testing.T) {
			a := withOwnPolicy(t)
			a.edit(t, `UPDATE events SET body = replace(body, ?, ?) WHERE kind = 'policy-kept'`, forgery[0], forgery[1])
			report := checked(t, newEngine(t, a.root, noon))
			if report.Sound() || report.Unchecked != 2 || len(report.Problems) != 1 {
				t.Fatalf("got %+v", report)
			}
			if p := report.Problems[0]; p.Kind != api.ProblemPolicy || p.Task != "_policies" {
				t.Errorf("got %+v", p)
			}
		})
	}
}
