package replay

import (
	"context"
	"maps"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// maxPlayed bounds the tasks that a Played lists.
const maxPlayed = 1000

// Played describes how tasks would have ended under the candidate. After a decision for any
// agent, the next recorded review is used, because the work of another agent is unknown. A
// task that continues after its end, as after an answer or a resume, counts again.
type Played struct {
	// Same counts the tasks that end in the same round, and Earlier the tasks that end in an
	// earlier one.
	Same    int64 `json:"same"`
	Earlier int64 `json:"earlier"`
	// SavedRounds counts the recorded decisions after the candidate's end of a task.
	SavedRounds int64 `json:"saved_rounds"`
	// Beyond counts the tasks that end only in the record, and Open the tasks that end in
	// neither.
	Beyond int64 `json:"beyond"`
	Open   int64 `json:"open"`
	// Tasks are the first 1,000 that end differently than recorded, in the order of their
	// recorded ends. Those that are open in the record come last, by name.
	Tasks []PlayedTask `json:"tasks"`
}

// PlayedTask is a task that ends differently than recorded.
type PlayedTask struct {
	Task string `json:"task"`
	// Recorded is the last recorded decision, and Round its round.
	Recorded routing.Decision `json:"recorded"`
	Round    int              `json:"round"`
	// Decision is the candidate's last one, and DecidedRound its round. Ended is false if the
	// task would continue.
	Decision     routing.Decision `json:"decision"`
	DecidedRound int              `json:"decided_round"`
	Ended        bool             `json:"ended"`
	// Bar is the bar then, and Deferred the number of findings below it.
	Bar      routing.Bar `json:"bar,omitzero"`
	Deferred int         `json:"deferred,omitzero"`
	// Saved is the number of recorded decisions after that.
	Saved int64 `json:"saved,omitzero"`
}

// player follows tasks by the candidate's decisions.
type player struct {
	decider *Decider
	tasks   map[string]*PlayedTask // tasks that have not ended in the record
	result  Played
}

// add plays one more recorded round.
func (y *player) add(ctx context.Context, r Recorded, before *routing.Policy) error {
	t := y.tasks[r.Task]
	if t == nil {
		t = &PlayedTask{Task: r.Task}
		y.tasks[r.Task] = t
	}
	t.Recorded, t.Round = r.Decision, r.Round
	if t.Ended {
		t.Saved++
	} else if err := y.decide(ctx, r, t); err != nil {
		return err
	}
	if !goesOn(before, r.Decision) {
		y.end(*t)
		delete(y.tasks, r.Task)
	}
	return nil
}

func (y *player) decide(ctx context.Context, r Recorded, t *PlayedTask) error {
	o, err := y.decider.decideAbove(ctx, r, t.Bar)
	if err != nil {
		return err
	}
	t.Decision, t.DecidedRound, t.Bar, t.Deferred = o.Decision, r.Round, o.Bar, deferredCount(o.Input)
	t.Ended = !goesOn(y.decider.policy, o.Decision)
	return nil
}

// goesOn reports whether an agent works after a decision. If p is nil, only the terminal
// destinations that every policy declares are known.
func goesOn(p *routing.Policy, d routing.Decision) bool {
	if p == nil {
		return d.NextAction != routing.Commit && d.NextAction != routing.Stuck
	}
	to, _ := p.Destination(d.NextAction)
	return to.Kind == routing.Agent
}

// end counts a task that ended in the record.
func (y *player) end(t PlayedTask) {
	switch {
	case !t.Ended:
		y.result.Beyond++
	case t.Saved > 0:
		y.result.Earlier++
		y.result.SavedRounds += t.Saved
	default:
		y.result.Same++
	}
	if (t.Saved > 0 || t.Decision != t.Recorded) && len(y.result.Tasks) < maxPlayed {
		y.result.Tasks = append(y.result.Tasks, t)
	}
}

// played returns the result so far.
func (y *player) played() *Played {
	p := y.result
	p.Tasks = append([]PlayedTask{}, p.Tasks...)
	for _, name := range slices.Sorted(maps.Keys(y.tasks)) {
		t := y.tasks[name]
		if !t.Ended {
			p.Open++
			continue
		}
		p.Earlier++
		p.SavedRounds += t.Saved
		if len(p.Tasks) < maxPlayed {
			p.Tasks = append(p.Tasks, *t)
		}
	}
	return &p
}
