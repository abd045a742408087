package oracle

import (
	"math"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// chain is the recounted state of a task, or of a chain other than a task's.
type chain struct {
	isTask bool
	// status is open, waiting, stuck or committed, "" for a task that does not exist yet,
	// and since is the time when it became that.
	status, since string
	// round is the current round, and fresh the round in which the work last began.
	round, fresh int64
	// questions is the number of open questions, asked the time of the latest decision.
	questions int
	asked     time.Time
	// open are the agent runs that have not ended.
	open   []intent
	spent  amount
	limits limits
}

// rounds returns the number of rounds since the work last began.
func (c *chain) rounds() int64 { return max(c.round, 1) - max(c.fresh, 1) + 1 }

// move applies an event to the task.
func (c *chain) move(e ledger.Event, b body) {
	before := c.status
	if c.exists(e, b) && c.status == "" {
		c.status, c.round, c.fresh = "open", 1, 1
	}
	switch e.Kind {
	case "work-begun":
		if before == "stuck" || before == "committed" || b.Event.Force != nil {
			c.fresh = b.Event.Round
		}
		c.status, c.round = "open", b.Event.Round
	case "round-decided":
		c.status, c.round = statusAfter(b.Event), b.Event.NextRound
		c.questions, c.asked = len(b.Event.Questions), e.Time()
	case "work-committed":
		c.status = "committed"
	case "work-stopped":
		c.status = "stuck"
	case "answer-given":
		if c.questions -= len(b.Event.Answers); c.questions == 0 {
			c.status = "open"
		}
	case "work-resumed":
		c.status, c.round = "open", b.Event.Round
		if b.Event.Mode == "replan" || b.Event.Mode == "reset" {
			c.fresh = b.Event.Round
		}
	case "task-imported":
		c.status, c.round, c.fresh = "open", b.Event.Round, 1
		if b.Event.Stop != nil {
			c.status = "stuck"
		}
	}
	if c.status != before {
		c.since = e.At
	}
}

// exists reports whether an event leaves a task. Agent runs outside any round do not
// create one.
func (c *chain) exists(e ledger.Event, b body) bool {
	switch e.Kind {
	case "spawn-begun":
		return slices.ContainsFunc(b.Event.Intents, func(i intent) bool { return i.Role != "other" })
	case "spawn-ended":
		return false
	default:
		return true
	}
}

// statusAfter returns the status of a task after a decision.
func statusAfter(e event) string {
	switch {
	case e.NextAction == "commit" && e.Final:
		return "committed"
	case e.NextAction != "commit" && e.Kind == "terminal":
		return "stuck"
	case e.Kind == "human":
		return "waiting"
	default:
		return "open"
	}
}

// amount is what runs use up.
type amount struct {
	Millis       int64 `json:"ms"`
	Tokens       int64 `json:"tokens"`
	MicroDollars int64 `json:"microdollars"`
}

// add adds b, up to the largest value.
func (a *amount) add(b amount) {
	for _, part := range []struct {
		sum  *int64
		more int64
	}{{&a.Millis, b.Millis}, {&a.Tokens, b.Tokens}, {&a.MicroDollars, b.MicroDollars}} {
		if *part.sum > math.MaxInt64-part.more {
			*part.sum = math.MaxInt64
		} else {
			*part.sum += part.more
		}
	}
}

// cost returns the amount that a run counts for: its reservation, if its use is unknown.
func (r receipt) cost(reserve amount) amount {
	cost, lost := r.Used, r.Outcome == "lost"
	if lost {
		cost.Millis = max(cost.Millis, reserve.Millis)
	}
	if lost || slices.Contains(r.Unknown, "tokens") {
		cost.Tokens = max(cost.Tokens, reserve.Tokens)
	}
	if lost || slices.Contains(r.Unknown, "microdollars") {
		cost.MicroDollars = max(cost.MicroDollars, reserve.MicroDollars)
	}
	return cost
}
