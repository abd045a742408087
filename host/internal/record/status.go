package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
)

// StoredStatus is a task's status as stored in the ledger's projection.
type StoredStatus struct {
	api.TaskStatus
	// FindingsEvent is the number of the latest event that names the open findings, 0 if there
	// is no such event.
	FindingsEvent int64 `json:"findings_event,omitzero"`
}

// Public strips internal fields from the status.
func (k StoredStatus) Public() api.TaskStatus {
	s := k.TaskStatus
	if s.Status == task.Open {
		s.Drafter = s.State.DraftAgent()
	}
	s.Internals = task.Internals{}
	return s
}

func (k *StoredStatus) addUse(p policies.Identity, round int) {
	uses := slices.Clone(k.Policies) // The previous state must not change.
	i := slices.IndexFunc(uses, func(u api.PolicyUse) bool { return u.Policy.Digest == p.Digest })
	if i < 0 {
		if len(uses) == api.MaxPolicyUses {
			oldest := slices.MinFunc(uses, func(a, b api.PolicyUse) int { return cmp.Compare(a.LastRound, b.LastRound) })
			uses = slices.DeleteFunc(uses, func(u api.PolicyUse) bool { return u == oldest })
		}
		i = len(uses)
		uses = append(uses, api.PolicyUse{Policy: p, FirstRound: round})
	}
	uses[i].Decisions++
	uses[i].LastRound = round
	k.Policies = uses
}

// criticFailure returns why the critic's last run failed, if the task is stuck because of
// it, else "".
func (k StoredStatus) criticFailure() string {
	if k.Stop == nil || k.Stop.Reason != "stuck-finding" {
		return ""
	}
	for _, run := range slices.Backward(k.Runs) {
		if run.Role == task.RoleCritic && run.Round == k.Stop.Round && run.Receipt != nil {
			if run.Receipt.Outcome == outcome.CriticError {
				return string(run.Receipt.Reason)
			}
			return ""
		}
	}
	return ""
}

// NotFound returns the error of a task that the ledger does not have.
func NotFound(id string) error {
	return errs.New(errs.TaskNotFound, "nothing is recorded for task %s", id).With("task", id)
}

// status decodes a task's projection. It checks the contents, because a ledger can be
// edited by hand or come with a repository.
func status(head ledger.Head) (s StoredStatus, err error) {
	err = json.Unmarshal(head.State, &s)
	if err == nil {
		err = s.Check()
	}
	if err == nil && s.TaskID != head.Task {
		err = fmt.Errorf("the state of %q", s.TaskID)
	}
	if err != nil {
		return StoredStatus{}, event.Tampered(head.Task, "its state does not match its events: %w", err)
	}
	return s, nil
}

// isChain reports whether name is a chain other than a task's.
func isChain(name string) bool { return strings.HasPrefix(name, "_") }
