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
	return e.explain(ctx, id, round, "")
}

// explain is Explain, or explains the decision with the hash of that event unless it is "".
func (e *Engine) explain(ctx context.Context, id string, round int, hash string) (api.Explanation, error) {
	if err := task.CheckID(id); err != nil {
		return api.Explanation{}, err
	}
	l, err := e.openLedger(ctx)
	if err != nil {
		return api.Explanation{}, err
	}
	defer l.Close()
	head, err := l.Head(ctx, id)
	if err != nil {
		return api.Explanation{}, err
	}
	x := api.Explanation{}
	now, err := existingStatus(id, head)
	if err != nil {
		return api.Explanation{}, err
	}
	x.Task = now.public()
	if x.History, err = listed[api.HistoryEntry](ctx, l, id, keyDecision, maxHistory); err != nil {
		return api.Explanation{}, err
	}
	if x.Overrides, err = listed[api.OverrideEntry](ctx, l, id, keyOverride, maxHistory); err != nil {
		return api.Explanation{}, err
	}
	if x.Lifecycle, err = listed[api.LifecycleEntry](ctx, l, id, keyTurn, maxHistory); err != nil {
		return api.Explanation{}, err
	}
	if x.Sessions, err = sessionBlock(ctx, l, id); err != nil {
		return api.Explanation{}, err
	}
	if x.Transcripts, err = savedTranscripts(ctx, l, id); err != nil {
		return api.Explanation{}, err
	}
	latest := round == 0 && hash == ""
	if latest && len(x.History) == 0 {
		if x.Task.Last != nil {
			return api.Explanation{}, errTampered(id, "its decisions are missing")
		}
		x.Spawns, err = spawnsAfter(ctx, l, id, 0)
		return x, err
	}
	n, err := decisionOf(ctx, l, id, round, hash, x.History)
	if err != nil {
		return api.Explanation{}, err
	}
	if err := follow(ctx, l, &x, head, n); err != nil {
		return api.Explanation{}, err
	}
	if x.Why, err = e.explainRecorded(ctx, l, *x.Decision); err != nil {
		return api.Explanation{}, err
	}
	if latest {
		if x.Spawns, err = spawnsAfter(ctx, l, id, n); err != nil {
			return api.Explanation{}, err
		}
	}
	if len(x.Decision.Questions) > 0 {
		x.Answers, err = answers(ctx, l, id, answersOf(x.Decision.Round))
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
func spawnsAfter(ctx context.Context, l *ledger.Ledger, id string, n int64) ([]api.SpawnSummary, error) {
	var all []api.SpawnSummary
	for event, err := range l.Events(ctx, id, n+1) {
		if err != nil {
			return nil, err
		}
		if event.Kind != string(task.KindSpawnEnded) {
			continue
		}
		r, err := spawnRecord(event)
		if err != nil {
			return nil, err
		}
		if r.RunID != "" { // It is empty if the run was lost with its host.
			all = append(all, summarizeSpawn(r))
		}
	}
	return all[max(len(all)-maxSpawns, 0):], nil
}

// answers returns the answers whose entries have a prefix: keyAnswer, or answersOf a round.
func answers(ctx context.Context, l *ledger.Ledger, id, prefix string) ([]api.AnswerEntry, error) {
	events, err := listed[int64](ctx, l, id, prefix, maxHistory)
	if err != nil {
		return nil, err
	}
	var all []api.AnswerEntry
	for _, n := range events {
		e, err := l.Event(ctx, id, n)
		if err != nil {
			return nil, err
		}
		body, err := event.Decode(e)
		if err != nil {
			return nil, errTampered(id, "event %d cannot be read: %w", n, err)
		}
		if answered, ok := body.Event.(*task.QuestionsAnswered); ok {
			for _, a := range answered.Answers {
				all = append(all, api.AnswerEntry{Answer: a, At: e.At})
			}
		}
	}
	return all, nil
}

// listed reads up to n of the latest entries with a prefix and returns them oldest first.
func listed[T any](ctx context.Context, l *ledger.Ledger, id, prefix string, n int) ([]T, error) {
	entries, err := l.LatestEntries(ctx, id, prefix, n)
	if err != nil {
		return nil, err
	}
	list := make([]T, len(entries))
	for i, entry := range entries {
		if err := json.Unmarshal(entry.Value, &list[len(entries)-1-i]); err != nil {
			return nil, errTampered(id, "%s cannot be read: %w", entry.Key, err)
		}
	}
	return list, nil
}

// decisionOf returns the number of the event with a hash or, if that is "", of the latest
// event that decided a round. 0 means the latest round; the history must then have an
// entry.
func decisionOf(ctx context.Context, l *ledger.Ledger, id string, round int, hash string, history []api.HistoryEntry) (int64, error) {
	switch {
	case hash != "":
		i := slices.IndexFunc(history, func(h api.HistoryEntry) bool { return h.Event.Hash == hash })
		if i < 0 {
			return 0, errDecisionUnknown(id, hash)
		}
		return history[i].Event.N, nil
	case round == 0:
		return history[len(history)-1].Event.N, nil
	}
	key := sequenced(keyRound, int64(round))
	entries, err := l.Entries(ctx, id, []string{key})
	if err != nil {
		return 0, err
	}
	text, found := entries[key]
	if !found {
		return 0, errs.New(errs.RoundNotFound, "task %s has no decision of round %d", id, round).With("task", id).With("round", round)
	}
	var n int64
	if err := json.Unmarshal(text, &n); err != nil {
		return 0, errTampered(id, "%s cannot be read: %w", key, err)
	}
	return n, nil
}

// maxFollowed is the number of events of a chain that Explain checks. Nearly all tasks
// have fewer.
const maxFollowed = 256

// follow reads the decision at event n, checks it against its entry, and follows the chain
// to the head, or for maxFollowed events.
func follow(ctx context.Context, l *ledger.Ledger, x *api.Explanation, head ledger.Head, n int64) error {
	end := min(head.N, n+maxFollowed-1)
	at, prev := n, ""
	for event, err := range l.Events(ctx, head.Task, n) {
		if err != nil {
			return err
		}
		if event.N != at || prev != "" && event.Prev != prev || event.Hash != event.Sum() {
			return errTampered(head.Task, "event %d does not fit into its chain", event.N)
		}
		if at == n {
			if err := readDecision(ctx, l, x, event); err != nil {
				return err
			}
		}
		prev = event.Hash
		at++
		if event.N == end {
			break // Later events are outside this check.
		}
	}
	if at <= end || end == head.N && prev != head.Hash {
		return errTampered(head.Task, "its newest events are missing")
	}
	return nil
}

// readDecision reads the decision from its event and checks that it is the one that the
// task's entry names.
func readDecision(ctx context.Context, l *ledger.Ledger, x *api.Explanation, e ledger.Event) error {
	body, err := event.DecodeFull(e)
	if err == nil && body.Decision == nil {
		err = errors.New("it has no decision")
	}
	if err != nil {
		return errTampered(e.Task, "event %d cannot be read: %w", e.N, err)
	}
	x.By, x.Decision, x.DecidedAt = body.By, body.Decision, e.At
	x.Decision.Event = &api.EventRef{N: e.N, Hash: e.Hash}
	key := sequenced(keyDecision, e.N)
	entries, err := l.Entries(ctx, e.Task, []string{key})
	if err != nil {
		return err
	}
	var entry api.HistoryEntry
	if err := json.Unmarshal(entries[key], &entry); err != nil || entry.Event != *x.Decision.Event {
		return errTampered(e.Task, "event %d is not the decision that its entry names", e.N)
	}
	return nil
}
