package worker_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// TestDraftsOfOthers tests that a task ends if its settings or its draft on the remote differ
// from those that its home knows.
func TestDraftsOfOthers(t *testing.T) {
	ref := flow.DraftRef("switchyard/T")
	for name, c := range map[string]struct {
		before func(s *site)
		// agent are the arguments of the git that the executor runs in the remote.
		agent []string
		want  errs.Code
	}{
		"other settings":           {before: func(s *site) { s.write(t, "project/switchyard.yaml", "max_rounds: 2\n") }, want: errs.FleetConfigDiffers},
		"a draft before the start": {before: func(s *site) { s.git(t, s.path("remote.git"), "update-ref", ref, "refs/heads/other") }, want: errs.FleetDraftDiverged},
		"a branch before the start": {before: func(s *site) {
			s.git(t, s.path("remote.git"), "update-ref", "refs/heads/switchyard/T", "refs/heads/other")
		}, want: errs.FleetDraftDiverged},
		"a draft that moves": {agent: []string{"update-ref", ref, "refs/heads/other"}, want: errs.FleetDraftDiverged},
		"a draft that goes":  {agent: []string{"update-ref", "-d", ref}, want: errs.FleetDraftMissing},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, "spawn: {retries: 0, confine: off}\n", nil) // The executor writes to the remote.
			s.git(t, s.path("project"), "commit", "-q", "--allow-empty", "-m", "other")
			s.git(t, s.path("project"), "push", "-q", "origin", "HEAD:other")
			s.git(t, s.path("project"), "reset", "-q", "--hard", "HEAD~")
			executor := fakeagent.Edits()
			if c.agent != nil {
				executor = fakeagent.Edits(fakeagent.Step{Run: &fakeagent.Run{Argv: append([]string{"git", "--git-dir", s.path("remote.git")}, c.agent...)}})
			} else {
				c.before(s)
			}
			s.script = fakeagent.WriteScript(t, t.TempDir(), fakeagent.Script{Roles: roles{"executor": {executor}}})
			got := s.workflow(t)
			if got.Failure == nil || got.Failure.Code != c.want {
				t.Errorf("the workflow ends with %+v (%+v), want %s", got, got.Failure, c.want)
			}
			if c.agent == nil && slices.Contains(s.kinds(t), string(task.KindSpawnBegun)) {
				t.Error("an agent has run")
			}
		})
	}
}

// TestUnstorableDrafts has an executor or a verification that leaves files which git cannot
// store. No agent runs twice for it, and the usage of all is recorded.
func TestUnstorableDrafts(t *testing.T) {
	const badName = "mkdir -p d && echo x > 'd/git~1'"
	for name, c := range map[string]struct {
		executor, verify string
		reason           string
		failure          errs.Code
		calls            []string
	}{
		"invalid name":       {executor: badName, reason: "executor-tree-unreadable", calls: []string{"executor"}},
		"FIFO":               {executor: "rm a.go && mkfifo a.go", reason: "executor-tree-unreadable", calls: []string{"executor"}},
		"repository":         {executor: "git init -q nested", reason: "executor-git-changed", calls: []string{"executor"}},
		"ignored attributes": {executor: "mkdir q && echo '* text' | tee q/z > q/.gitattributes && echo q/.gitattributes > .gitignore", reason: "draft-protected", calls: []string{"executor"}},
		"verification":       {executor: "true", verify: badName, failure: errs.GitFailed, calls: []string{"executor", "critic"}},
	} {
		t.Run(name, func(t *testing.T) {
			agents := oneRound()
			agents["executor"] = []fakeagent.Scenario{fakeagent.Edits(fakeagent.Step{Run: &fakeagent.Run{Argv: []string{"sh", "-c", c.executor}}})}
			agents["build-fixer"] = []fakeagent.Scenario{fakeagent.Edits()}
			config := "spawn: {retries: 0}\n"
			if c.verify != "" {
				config += fmt.Sprintf("verify: %q\n", c.verify)
			}
			s := newSite(t, config, agents)
			got := s.workflow(t)
			if (got.Failure != nil) != (c.failure != "") || got.Failure != nil && got.Failure.Code != c.failure {
				t.Errorf("the workflow ends with %+v (%+v), want the failure %q", got, got.Failure, c.failure)
			}
			h := &hand{site: s}
			state := h.state(t)
			if calls := h.calls(t); !slices.Equal(calls, c.calls) || state.Spent.Task.Tokens != int64(240*len(calls)) {
				t.Errorf("agents are called as %q and use %d tokens, want %q", calls, state.Spent.Task.Tokens, c.calls)
			}
			if c.reason == "" {
				return
			}
			if state.Stop == nil || state.Stop.Reason != c.reason {
				t.Errorf("the task is %s because of %+v, want %s", state.Status, state.Stop, c.reason)
			}
			if _, err := s.home(t).Engine.Resume(t.Context(), "T", api.ResumeRequest{Mode: task.MoreRounds, Rounds: 1}); err != nil {
				t.Fatal(err)
			}
			if got := s.workflow(t); got.NextAction != "commit" {
				t.Errorf("the resumed task ends with %+v (%+v)", got, got.Failure)
			}
		})
	}
}

// TestStoppedReview has a verification that leaves what git cannot commit, so that the review
// ends without a decision, and none is counted.
func TestStoppedReview(t *testing.T) {
	h := newHand(t, "spawn: {retries: 0}\nverify: \"git init -q nested\"\n", oneRound())
	h.advance(t, flow.Move{})
	h.finish(t)
	if h.at.NextAction != "stuck" || len(h.decided) != 0 {
		t.Errorf("the task ends with %s (%s) after the decisions %q, want none", h.at.NextAction, h.at.Reason, h.decided)
	}
}
