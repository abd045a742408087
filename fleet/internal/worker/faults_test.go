package worker_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/fleet/internal/orderstore"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/spawner"
)

// TestBadSurroundings breaks the things that a worker needs. After a transient error the order is
// repeated until the fault is over. Another error ends the task with a code.
func TestBadSurroundings(t *testing.T) {
	ref := flow.DraftRef("switchyard/T")
	for name, c := range map[string]struct {
		begin, end      func(t *testing.T, h *hand)
		repeated, final errs.Code
	}{
		"remote down": {
			begin: func(t *testing.T, h *hand) { h.rename(t, "remote.git", "away.git") },
			end:   func(t *testing.T, h *hand) { h.rename(t, "away.git", "remote.git") }, repeated: errs.FetchFailed,
		},
		"no program": {
			begin: func(_ *testing.T, h *hand) { h.more = []string{"SWITCHYARD_CLAUDE_BIN=/no/such"} },
			end:   func(_ *testing.T, h *hand) { h.more = nil }, repeated: errs.SpawnBinaryMissing,
		},
		"clock of the home ahead":  {begin: func(_ *testing.T, h *hand) { h.ahead.Store(int64(time.Hour)) }},
		"clock of the home behind": {begin: func(_ *testing.T, h *hand) { h.ahead.Store(-int64(time.Hour)) }},
		"draft deleted": {
			begin: func(t *testing.T, h *hand) { h.git(t, h.path("remote.git"), "update-ref", "-d", ref) },
			final: errs.FleetDraftMissing,
		},
		"draft diverged": {
			begin: func(t *testing.T, h *hand) {
				other := h.git(t, h.path("remote.git"), "-c", "user.name=x", "-c", "user.email=x", "commit-tree", "-m", "x", ref+"^{tree}")
				h.git(t, h.path("remote.git"), "update-ref", ref, other)
			},
			final: errs.FleetDraftDiverged,
		},
		"blob missing": {begin: func(t *testing.T, h *hand) { h.eachBlob(t, os.Remove) }, final: errs.FleetBlobMissing},
		"blob changed": {
			begin: func(t *testing.T, h *hand) {
				h.eachBlob(t, func(path string) error { return os.WriteFile(path, []byte("x"), 0o600) })
			},
			final: errs.FleetBlobChanged,
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHand(t, "", oneRound())
			h.advance(t, flow.Move{})
			c.begin(t, h)
			done, err := h.tryCarry(t, "worker")
			if c.final != "" {
				wantFinal(t, err, c.final)
				return
			}
			if c.end != nil {
				wantRepeated(t, err, c.repeated)
				c.end(t, h)
				done = h.carry(t, "other")
			}
			h.advance(t, flow.Move{Result: done.Result, Draft: done.Draft})
			h.finish(t)
			if h.at.NextAction != "commit" {
				t.Errorf("the task ends with %+v (%+v)", h.at, h.at.Failure)
			}
		})
	}
}

// TestRefusedPush has a remote that takes no push at first. The worker keeps what its agent has
// done until the remote takes it. If the worker is stopped before, the order is repeated.
func TestRefusedPush(t *testing.T) {
	for name, stopped := range map[string]bool{"accepted later": false, "worker stopped": true} {
		t.Run(name, func(t *testing.T) {
			h := newHand(t, "", oneRound())
			h.advance(t, flow.Move{})
			h.write(t, "remote.git/hooks/pre-receive", "#!/bin/sh\nexit 1\n")
			if err := os.Chmod(h.path("remote.git/hooks/pre-receive"), 0o700); err != nil {
				t.Fatal(err)
			}
			warnings := 0
			h.warn = func(err error) {
				warnings++
				if errs.CodeOf(err) != errs.PushRejected {
					t.Errorf("a warning: %v", err)
				}
				switch {
				case stopped:
					close(h.stop)
				case warnings == 2:
					if err := os.Remove(h.path("remote.git/hooks/pre-receive")); err != nil {
						t.Error(err)
					}
				}
			}
			done, err := h.tryCarry(t, "worker")
			if stopped {
				if app, ok := errors.AsType[*temporal.ApplicationError](err); !ok || app.NonRetryable() {
					t.Errorf("the worker ends with %v, want an error that is repeated", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			h.advance(t, flow.Move{Result: done.Result, Draft: done.Draft})
			h.finish(t)
			h.wantCommitted(t, "executor", "critic")
		})
	}
}

// TestBadHome has a home that cannot write its log of runs for a while, as on a full disk.
func TestBadHome(t *testing.T) {
	h := newHand(t, "", oneRound())
	h.advance(t, flow.Move{})
	done := h.carry(t, "worker")
	file := h.path("project/.switchyard/" + spawner.RunLogFile)
	if err := os.Mkdir(file, 0o700); err != nil {
		t.Fatal(err)
	}
	err := h.tryAdvance(t, flow.Move{Result: done.Result, Draft: done.Draft})
	wantRepeated(t, err, errs.SpawnTrailFailed)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	h.advance(t, flow.Move{Result: done.Result, Draft: done.Draft})
	h.finish(t)
	h.wantCommitted(t, "executor", "critic")
}

func (h *hand) rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(h.path(from), h.path(to)); err != nil {
		t.Fatal(err)
	}
}

func (h *hand) eachBlob(t *testing.T, do func(path string) error) {
	t.Helper()
	err := filepath.Walk(h.path("store"), func(path string, info os.FileInfo, err error) error {
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		return do(path)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestForeignBranch finishes a task whose branch somebody else has on the remote, and later
// deletes.
func TestForeignBranch(t *testing.T) {
	h := newHand(t, "", oneRound())
	h.advance(t, flow.Move{})
	for h.at.Step.Kind != task.StepCommit {
		done := h.carry(t, "worker")
		h.advance(t, flow.Move{Result: done.Result, Draft: done.Draft})
	}
	remote := h.path("remote.git")
	foreign := h.git(t, remote, "-c", "user.name=x", "-c", "user.email=x", "commit-tree", "-m", "x", flow.DraftRef("switchyard/T")+"^{tree}")
	h.git(t, remote, "update-ref", "refs/heads/switchyard/T", foreign)
	for _, name := range []string{"worker", "other"} {
		_, err := h.tryCarry(t, name)
		wantFinal(t, err, errs.FleetDraftDiverged)
	}
	if at := h.git(t, remote, "rev-parse", "switchyard/T"); at != foreign {
		t.Errorf("the branch was moved to %s", at)
	}
	h.git(t, remote, "update-ref", "-d", "refs/heads/switchyard/T")
	h.finish(t)
	h.wantCommitted(t, "executor", "critic")
}

// TestDeletedDraft runs a task again after somebody has deleted its draft and pushed its base
// there.
func TestDeletedDraft(t *testing.T) {
	h := newHand(t, "", oneRound())
	h.advance(t, flow.Move{})
	h.git(t, h.path("remote.git"), "update-ref", "-d", flow.DraftRef("switchyard/T"))
	wantFinal(t, h.tryAdvance(t, flow.Move{}), errs.FleetDraftMissing)
	h.git(t, h.path("project"), "push", "-q", "origin", "main:"+flow.DraftRef("switchyard/T"))
	h.advance(t, flow.Move{})
	h.finish(t)
	h.wantCommitted(t, "executor", "critic")
}

// TestOtherConfiguration begins a task whose workers would have other settings, and again once
// these are committed.
func TestOtherConfiguration(t *testing.T) {
	h := newHand(t, "", oneRound())
	h.write(t, "project/switchyard.yaml", "max_rounds: 1\n")
	wantFinal(t, h.tryAdvance(t, flow.Move{}), errs.FleetConfigDiffers)
	if kinds := h.kinds(t); len(kinds) != 0 {
		t.Errorf("the task has %s, want nothing", kinds)
	}
	h.git(t, h.path("project"), "add", "switchyard.yaml")
	h.git(t, h.path("project"), "commit", "-q", "-m", "settings")
	h.advance(t, flow.Move{})
}

// TestTaskWithoutText runs a task that is not recorded and has no text.
func TestTaskWithoutText(t *testing.T) {
	h := newHand(t, "", oneRound())
	request, err := orderstore.Put(t.Context(), h.store(t), api.RunRequest{})
	if err != nil {
		t.Fatal(err)
	}
	h.request = request
	err = h.tryAdvance(t, flow.Move{})
	wantFinal(t, err, errs.TaskNoText)
	var hint string
	if app, ok := errors.AsType[*temporal.ApplicationError](err); !ok || app.Details(&hint) != nil || hint != "switchyard-fleet run T --prompt TEXT, or --prompt-file FILE" {
		t.Errorf("the hint is %q", hint)
	}
}

// TestHostileResult has files in a result that lead out of the state directory.
func TestHostileResult(t *testing.T) {
	for _, path := range []string{
		"../evil", ".switchyard/reports/../../evil", "/tmp/evil", ".switchyard/ledger.db", ".switchyard/reports/..", ".switchyard/reports/", "switchyard.yaml",
	} {
		h := newHand(t, "", oneRound())
		h.advance(t, flow.Move{})
		done := h.carry(t, "worker")
		r, err := orderstore.Get[host.OrderResult](t.Context(), h.store(t), done.Result)
		if err != nil {
			t.Fatal(err)
		}
		before := strings.Join(h.kinds(t), " ")
		r.Files = append(r.Files, host.StateFile{Path: path, Data: []byte("evil")})
		sum, err := orderstore.Put(t.Context(), h.store(t), r)
		if err != nil {
			t.Fatal(err)
		}
		wantFinal(t, h.tryAdvance(t, flow.Move{Result: sum}), errs.StateUnsafe)
		if after := strings.Join(h.kinds(t), " "); after != before {
			t.Errorf("with %s the task has %s, want %s", path, after, before)
		}
	}
}
