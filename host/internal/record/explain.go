package record

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/gitrepo"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/policies"
)

// maxHistory is the number of decisions, and of overrides, that an Explanation lists.
const maxHistory = 1000

// Explain returns the decision with the hash of that event or, if that is "", the latest one of
// a round, or of the task if round is 0. The decision is nil if the task was not decided yet.
// Explain checks the task's chain from there to its head, up to 256 events; Verify checks the
// rest. It leaves Transcripts empty.
//
// # Errors
//
// round-not-found, decision-unknown, ledger-tampered, and the ledger's codes.
func (r *Task) Explain(ctx context.Context, round int, hash string) (api.Explanation, error) {
	x := api.Explanation{Task: r.Status.Public()}
	var err error
	if x.History, err = r.History(ctx); err != nil {
		return api.Explanation{}, err
	}
	if x.Overrides, err = latestEntries[api.OverrideEntry](ctx, r, keyOverride, maxHistory); err != nil {
		return api.Explanation{}, err
	}
	if x.Lifecycle, err = latestEntries[api.LifecycleEntry](ctx, r, keyTurn, maxHistory); err != nil {
		return api.Explanation{}, err
	}
	if x.Sessions, err = r.SessionBlock(ctx); err != nil {
		return api.Explanation{}, err
	}
	latest := round == 0 && hash == ""
	if latest && len(x.History) == 0 {
		if x.Task.Last != nil {
			return api.Explanation{}, event.Tampered(r.ID, "its decisions are missing")
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

// maxSpawns is the number of runs that an Explanation lists.
const maxSpawns = 50

// spawnsAfter returns the latest agent runs that ended after event n of a task. They show
// why a round was not decided, for example that a login is missing.
func (r *Task) spawnsAfter(ctx context.Context, n int64) ([]api.SpawnSummary, error) {
	var all []api.SpawnSummary
	for record, err := range r.Spawns(ctx, n+1) {
		if err != nil {
			return nil, err
		}
		all = append(all, api.SummarizeSpawn(record))
	}
	return all[max(len(all)-maxSpawns, 0):], nil
}

// History returns the task's decisions, oldest first.
func (r *Task) History(ctx context.Context) ([]api.HistoryEntry, error) {
	return latestEntries[api.HistoryEntry](ctx, r, keyDecision, maxHistory)
}

// Answers returns the user's answers, oldest first.
func (r *Task) Answers(ctx context.Context) ([]api.AnswerEntry, error) {
	return r.answers(ctx, keyAnswer)
}

// answers returns the answers by the prefix of their entries: keyAnswer, or answersOf a round.
func (r *Task) answers(ctx context.Context, prefix string) ([]api.AnswerEntry, error) {
	events, err := latestEntries[int64](ctx, r, prefix, maxHistory)
	if err != nil {
		return nil, err
	}
	var all []api.AnswerEntry
	for _, n := range events {
		stored, err := r.Ledger.Event(ctx, r.ID, n)
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
func (r *Task) decisionOf(ctx context.Context, round int, hash string, history []api.HistoryEntry) (int64, error) {
	switch {
	case hash != "":
		i := slices.IndexFunc(history, func(h api.HistoryEntry) bool { return h.Event.Hash == hash })
		if i < 0 {
			return 0, DecisionUnknown(r.ID, hash)
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
		return 0, errs.New(errs.RoundNotFound, "task %s has no decision of round %d", r.ID, round).With("task", r.ID).With("round", round)
	}
	return *n, nil
}

// maxFollowed is the number of events of a chain that Explain checks. Nearly all tasks
// have fewer.
const maxFollowed = 256

// follow reads the decision at event n, checks it against its entry, and follows the chain
// to the head, or for maxFollowed events.
func (r *Task) follow(ctx context.Context, x *api.Explanation, n int64) error {
	end := min(r.Head.N, n+maxFollowed-1)
	at, prev := n, ""
	for e, err := range r.Ledger.Events(ctx, r.ID, n) {
		if err != nil {
			return err
		}
		if e.N != at || prev != "" && e.Prev != prev || e.Hash != e.Sum() {
			return event.Tampered(r.ID, "event %d does not fit into its chain", e.N)
		}
		if at == n {
			body, err := r.readDecision(ctx, e)
			if err != nil {
				return err
			}
			x.By, x.Decision, x.DecidedAt = body.By, body.Decision, e.At
		}
		prev = e.Hash
		at++
		if e.N == end {
			break // Later events are outside this check.
		}
	}
	if at <= end || end == r.Head.N && prev != r.Head.Hash {
		return event.Tampered(r.ID, "its latest events are missing")
	}
	return nil
}

// readDecision reads the decision from its event and checks that it is the one that the
// task's entry names.
func (r *Task) readDecision(ctx context.Context, e ledger.Event) (event.Full, error) {
	body, err := event.DecodeFull(e)
	if err == nil && body.Decision == nil {
		err = errors.New("it has no decision")
	}
	if err != nil {
		return body, event.Tampered(r.ID, "event %d cannot be read: %w", e.N, err)
	}
	body.Decision.Event = &api.EventRef{N: e.N, Hash: e.Hash}
	listed, err := entry[api.HistoryEntry](ctx, r, sequenced(keyDecision, e.N))
	if err == nil && (listed == nil || listed.Event != *body.Decision.Event) {
		err = event.Tampered(r.ID, "event %d is not the decision that its entry names", e.N)
	}
	return body, err
}

// LastDecision returns the task's latest recorded decision.
func (r *Task) LastDecision(ctx context.Context) (api.Decision, error) {
	latest, err := latestEntries[api.HistoryEntry](ctx, r, keyDecision, 1)
	if err != nil {
		return api.Decision{}, err
	}
	if len(latest) == 0 {
		return api.Decision{}, event.Tampered(r.ID, "its state follows a decision that is gone")
	}
	e, err := r.Ledger.Event(ctx, r.ID, latest[0].Event.N)
	if err != nil {
		return api.Decision{}, err
	}
	body, err := r.readDecision(ctx, e)
	if err != nil {
		return api.Decision{}, err
	}
	return *body.Decision, nil
}

// DecisionUnknown returns the error of a decision that a commit names and the ledger lacks.
func DecisionUnknown(id, hash string) error {
	return errs.New(errs.DecisionUnknown, "the ledger has no decision %s of task %s", textutil.Clip(hash, 64), id).With("task", id)
}

// CommitEvidence compares a commit with the explained decision, and with the commits that
// were recorded for it.
func (r *Task) CommitEvidence(ctx context.Context, x api.Explanation, commit gitrepo.Commit) (*api.CommitEvidence, error) {
	found := &api.CommitEvidence{SHA: commit.Hash, Tree: commit.Tree}
	if x.Task.Branch != nil {
		found.Branch = x.Task.Branch.Name
	}
	decision := x.Decision
	var err error
	if found.Deferred, err = r.NameDeferred(ctx, decision.Event.N); err != nil {
		return nil, err
	}
	into := ""
	for e, err := range r.Events(ctx, decision.Event.N, task.KindDecided, task.KindCommitCreated, task.KindMergeBegun, task.KindMergeEnded) {
		if err != nil {
			return nil, err
		}
		if e.Event.Kind() == task.KindDecided && e.Stored.N > decision.Event.N {
			break
		}
		switch ev := e.Event.(type) {
		case *task.RoundDecided:
			found.ReviewedTree = ev.Tree
		case *task.CommitCreated:
			found.Recorded = ev.Commit.SHA
		case *task.MergeBegun:
			into = ev.Into
		case *task.MergeEnded:
			if ev.Commit == commit.Hash {
				found.Merge = &task.Merge{Into: into, Outcome: ev.Outcome, Commit: ev.Commit, Verified: ev.Verified}
			}
		}
	}
	switch {
	case decision.NextAction != policies.Commit:
		found.Problem = fmt.Sprintf("its decision, of round %d of task %s, is %s and not commit", decision.Round, r.ID, decision.NextAction)
	case found.ReviewedTree == "":
		found.Problem = fmt.Sprintf("round %d of task %s was decided without a tree to compare it with", decision.Round, r.ID)
	case commit.Tree == found.ReviewedTree:
		found.Matches, found.Merge = true, nil
	case found.Merge != nil:
		found.Matches = true
	default:
		found.Problem = fmt.Sprintf("its tree is %.12s, and round %d of task %s decided on tree %.12s", commit.Tree, decision.Round, r.ID, found.ReviewedTree)
	}
	return found, nil
}
