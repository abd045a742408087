package host

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/host/fault"
	"github.com/switchyard-dev/switchyard/host/ledger"
	"github.com/switchyard-dev/switchyard/host/task"
	"github.com/switchyard-dev/switchyard/policies"
)

// Round decides a task's round and records the decision. When it returns, the
// decision is durable; when it fails, the task is as it was before.
//
// # Errors
//
// Besides those of reports, plugins, policies and the ledger: the task's own
// (task.CodeWaiting and so on), CodeWrongTask and CodeWrongRound, and
// task.CodeRoundShifted where another process decided the round first.
func (e *Engine) Round(ctx context.Context, id string, req Request) (Decision, error) {
	if err := task.CheckID(id); err != nil {
		return Decision{}, err
	}
	config, err := e.project.Config(ctx, task.MaxRounds)
	if err != nil {
		return Decision{}, err
	}
	loading := e.load(ctx, req, config)
	defer loading.cancel()
	l, err := e.ledger(ctx)
	if err != nil {
		return Decision{}, err
	}
	defer l.Close()
	head, state, err := e.state(ctx, l, id)
	if err != nil {
		return Decision{}, err
	}
	round, maxRounds, err := task.Begin(state, req.Round, req.MaxRounds, firstOf(config.MaxRounds, task.DefaultRounds))
	if err != nil {
		return Decision{}, err
	}
	policy, all, err := loading.wait(ctx)
	if err != nil {
		return Decision{}, err
	}
	if _, err := bind(all, id, round); err != nil {
		return Decision{}, err
	}
	d, err := decide(ctx, policy, all, round, maxRounds, req.Verify)
	if err != nil {
		return Decision{}, err
	}
	return e.record(ctx, l, id, head, policy, d)
}

// record appends a decision to the task's chain, unless the task has moved on
// since head was read.
func (e *Engine) record(ctx context.Context, l *ledger.Ledger, id string, head ledger.Head, policy *policies.Policy, d Decision) (Decision, error) {
	destination, _ := policy.Destination(d.NextAction)
	event := task.Decide(d.Round, d.MaxRounds, task.Outcome{
		NextAction: d.NextAction, Reason: d.Reason,
		Kind: string(destination.Kind), AdvancesRound: destination.AdvancesRound,
		FindingCount: d.Input.FindingCount, VerifyRed: d.Input.Verify == policies.Red,
	})
	d.TaskID, d.NextRound = id, event.NextRound
	body, err := json.Marshal(decidedBody{Event: event, Decision: d}, json.Deterministic(true))
	if err != nil {
		return Decision{}, err
	}
	if len(body) > ledger.MaxBody {
		return Decision{}, fault.New(CodeDecisionTooLarge, "the decision on %d findings has %d bytes; the ledger takes %d", len(d.Findings), len(body), ledger.MaxBody).
			With("limit", ledger.MaxBody).With("finding_count", len(d.Findings))
	}
	recorded, err := l.Append(ctx, id, head.N, e.now(), kindDecided, body)
	if fault.CodeOf(err) == ledger.CodeConflict {
		if _, now, err := e.state(ctx, l, id); err == nil {
			return Decision{}, lostRace(d.Round, now)
		}
	}
	if err != nil {
		return Decision{}, err
	}
	d.Event = &Event{N: recorded.N, Hash: recorded.Hash}
	return d, nil
}

// lostRace is the error of a round that another process decided meanwhile. The
// round's number may be the same, where that decision did not advance it.
func lostRace(round int, now task.State) error {
	return fault.New(task.CodeRoundShifted, "another command decided round %d first; the task is %s, in round %d", round, now.Status, now.Round).
		With("expected", round).With("actual", now.Round)
}

// state reads where a task stands; a task that does not exist has a zero head
// and state.
func (e *Engine) state(ctx context.Context, l *ledger.Ledger, id string) (ledger.Head, task.State, error) {
	head, err := l.Head(ctx, id)
	if err != nil || head.N == 0 {
		return head, task.State{}, err
	}
	s, err := status(head)
	return head, s.State, err
}
