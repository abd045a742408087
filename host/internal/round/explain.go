package round

import (
	"context"
	"errors"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/policy/explain"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// maxHistory is the number of decisions, and of overrides, that an Explanation lists.
const maxHistory = 1000

// Explain returns the latest decision of a round, or of the task if round is 0, with
// everything that led to it. It checks the task's chain from there to its head, up to 256
// events; Verify checks the rest.
//
// # Errors
//
// task-not-found, round-not-found, ledger-tampered, and the ledger's codes.
func (e *Engine) Explain(ctx context.Context, id string, round int) (api.Explanation, error) {
	r, err := e.readTask(ctx, id)
	defer r.close()
	if err != nil {
		return api.Explanation{}, err
	}
	return e.explain(ctx, r, round, "")
}

// explain is Explain, or explains the decision with the hash of that event unless it is "".
func (e *Engine) explain(ctx context.Context, r *taskRecord, round int, hash string) (api.Explanation, error) {
	x := api.Explanation{Task: r.status.public()}
	var err error
	if x.History, err = listed[api.HistoryEntry](ctx, r, keyDecision, maxHistory); err != nil {
		return api.Explanation{}, err
	}
	if x.Overrides, err = listed[api.OverrideEntry](ctx, r, keyOverride, maxHistory); err != nil {
		return api.Explanation{}, err
	}
	if x.Lifecycle, err = listed[api.LifecycleEntry](ctx, r, keyTurn, maxHistory); err != nil {
		return api.Explanation{}, err
	}
	if x.Sessions, err = r.sessionBlock(ctx); err != nil {
		return api.Explanation{}, err
	}
	if x.Transcripts, err = r.savedTranscripts(ctx); err != nil {
		return api.Explanation{}, err
	}
	latest := round == 0 && hash == ""
	if latest && len(x.History) == 0 {
		if x.Task.Last != nil {
			return api.Explanation{}, errTampered(r.id, "its decisions are missing")
		}
		x.Spawns, err = r.spawnsAfter(ctx, 0)
		return x, err
	}
	n, err := r.decisionOf(ctx, round, hash, x.History)
	if err != nil {
		return api.Explanation{}, err
	}
	if err := r.follow(ctx, &x, n); err != nil {
		return api.Explanation{}, err
	}
	if x.Why, err = e.explainRecorded(ctx, r.ledger, *x.Decision); err != nil {
		return api.Explanation{}, err
	}
	if latest {
		if x.Spawns, err = r.spawnsAfter(ctx, n); err != nil {
			return api.Explanation{}, err
		}
	}
	if len(x.Decision.Questions) > 0 {
		x.Answers, err = r.answers(ctx, answersOf(x.Decision.Round))
	}
	return x, err
}

// explainRecorded explains a recorded decision with the policy that made it.
func (e *Engine) explainRecorded(ctx context.Context, l *ledger.Ledger, d api.Decision) (*explain.Explanation, error) {
	policy, err := e.policies.ByDigest(ctx, l, d.Policy.Digest)
	if errs.CodeOf(err) == errs.PolicyLost {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	x, err := explained(ctx, policy, d)
	if err != nil {
		return nil, err
	}
	if x.Decision.NextAction != d.NextAction || x.Decision.Reason != d.Reason {
		return nil, errTampered(d.TaskID, "its policy decides the recorded input for %s (%s)", x.Decision.NextAction, x.Decision.Reason)
	}
	if x.Bar != nil && x.Bar.Bar != d.PolicyBar {
		return nil, errTampered(d.TaskID, "its policy gives the recorded input the bar %s", x.Bar.Bar)
	}
	return x, nil
}

// maxSpawns is the number of runs that an Explanation lists.
const maxSpawns = 50

// spawnsAfter returns the latest agent runs that ended after event n of a task. They show
// why a round was not decided, such as a missing login.
func (r *taskRecord) spawnsAfter(ctx context.Context, n int64) ([]api.SpawnSummary, error) {
	var all []api.SpawnSummary
	for record, err := range r.spawns(ctx, n+1) {
		if err != nil {
			return nil, err
		}
		all = append(all, api.SummarizeSpawn(record))
	}
	return all[max(len(all)-maxSpawns, 0):], nil
}

// answers returns the answers whose entries have a prefix: keyAnswer, or answersOf a round.
func (r *taskRecord) answers(ctx context.Context, prefix string) ([]api.AnswerEntry, error) {
	events, err := listed[int64](ctx, r, prefix, maxHistory)
	if err != nil {
		return nil, err
	}
	var all []api.AnswerEntry
	for _, n := range events {
		stored, err := r.ledger.Event(ctx, r.id, n)
		if err != nil {
			return nil, err
		}
		e, err := r.readEvent(n, stored)
		if err != nil {
			return nil, err
		}
		if answered, ok := e.Event.(*task.QuestionsAnswered); ok {
			for _, a := range answered.Answers {
				all = append(all, api.AnswerEntry{Answer: a, At: stored.At})
			}
		}
	}
	return all, nil
}

// decisionOf returns the number of the event with a hash or, if that is "", of the latest
// event that decided a round. 0 means the latest round; the history must then have an
// entry.
func (r *taskRecord) decisionOf(ctx context.Context, round int, hash string, history []api.HistoryEntry) (int64, error) {
	switch {
	case hash != "":
		i := slices.IndexFunc(history, func(h api.HistoryEntry) bool { return h.Event.Hash == hash })
		if i < 0 {
			return 0, errDecisionUnknown(r.id, hash)
		}
		return history[i].Event.N, nil
	case round == 0:
		return history[len(history)-1].Event.N, nil
	}
	n, err := entry[int64](ctx, r, sequenced(keyRound, int64(round)))
	switch {
	case err != nil:
		return 0, err
	case n == nil:
		return 0, errs.New(errs.RoundNotFound, "task %s has no decision of round %d", r.id, round).With("task", r.id).With("round", round)
	}
	return *n, nil
}

// maxFollowed is the number of events of a chain that Explain checks. Nearly all tasks
// have fewer.
const maxFollowed = 256

// follow reads the decision at event n, checks it against its entry, and follows the chain
// to the head, or for maxFollowed events.
func (r *taskRecord) follow(ctx context.Context, x *api.Explanation, n int64) error {
	end := min(r.head.N, n+maxFollowed-1)
	at, prev := n, ""
	for event, err := range r.ledger.Events(ctx, r.id, n) {
		if err != nil {
			return err
		}
		if event.N != at || prev != "" && event.Prev != prev || event.Hash != event.Sum() {
			return errTampered(r.id, "event %d does not fit into its chain", event.N)
		}
		if at == n {
			if err := r.readDecision(ctx, x, event); err != nil {
				return err
			}
		}
		prev = event.Hash
		at++
		if event.N == end {
			break // Later events are outside this check.
		}
	}
	if at <= end || end == r.head.N && prev != r.head.Hash {
		return errTampered(r.id, "its newest events are missing")
	}
	return nil
}

// readDecision reads the decision from its event and checks that it is the one that the
// task's entry names.
func (r *taskRecord) readDecision(ctx context.Context, x *api.Explanation, e ledger.Event) error {
	body, err := event.DecodeFull(e)
	if err == nil && body.Decision == nil {
		err = errors.New("it has no decision")
	}
	if err != nil {
		return errTampered(r.id, "event %d cannot be read: %w", e.N, err)
	}
	x.By, x.Decision, x.DecidedAt = body.By, body.Decision, e.At
	x.Decision.Event = &api.EventRef{N: e.N, Hash: e.Hash}
	key := sequenced(keyDecision, e.N)
	entries, err := r.ledger.Entries(ctx, r.id, []string{key})
	if err != nil {
		return err
	}
	var entry api.HistoryEntry
	if err := json.Unmarshal(entries[key], &entry); err != nil || entry.Event != *x.Decision.Event {
		return errTampered(r.id, "event %d is not the decision that its entry names", e.N)
	}
	return nil
}
