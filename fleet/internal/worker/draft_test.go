package worker_test

import (
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// TestDraftsOfOthers tests that a task ends if its settings or its draft on the remote differ
// from those that its home knows.
func TestDraftsOfOthers(t *testing.T) {
	ref := flow.DraftRef("T")
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
