package oracle

import (
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// chain is the recounted state of a task, or of a chain other than a task's.
type chain struct {
	isTask bool
	// status is open, waiting, parked, stuck, committed or merging, "" for a task that does
	// not exist yet, and since is the time when it became that.
	status, since string
	// round is the current round, and fresh the round in which the work last began.
	round, fresh int64
	// questions is the number of open questions, asked the time of the latest ones, and
	// budgets has the unit of each that is about a budget.
	questions int
	asked     time.Time
	budgets   map[string]string
	// churn has the questions how to end a churn, and bar the bar of the task, "" for all.
	churn map[string]bool
	bar   string
	// open are the agent runs that have not ended.
	open   []intent
	spent  amount
	limits limits
	raised limits
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
			c.fresh, c.bar = b.Event.Round, ""
		}
		c.status, c.round = "open", b.Event.Round
	case "round-decided":
		c.status, c.round, c.bar = statusAfter(b.Event), b.Event.NextRound, b.Event.Bar
		c.ask(e, b)
	case "question-asked":
		c.status = "waiting"
		c.ask(e, b)
	case "task-parked":
		c.status = "parked"
	case "parking-ended":
		c.status = "open"
	case "merge-begun":
		c.status = "merging"
	case "merge-ended":
		if c.status = "committed"; b.Event.Outcome != "merged" {
			c.status = "stuck"
		}
	case "work-committed":
		c.status = "committed"
	case "work-stopped":
		c.status = "stuck"
	case "answer-given":
		if c.questions -= len(b.Event.Answers); c.questions == 0 {
			c.status = "open"
		}
		for _, a := range b.Event.Answers {
			if c.churn[a.Fingerprint] && strings.EqualFold(strings.TrimSpace(a.Text), "land with the residual risk") {
				c.bar = "fail"
			}
			if unit := c.budgets[a.Fingerprint]; unit != "" && a.Text == "stop" {
				c.status, c.questions = "stuck", 0
			} else if unit != "" {
				c.raised.pay(unit, a.Text)
			}
		}
	case "work-resumed":
		c.status, c.round, c.bar = "open", b.Event.Round, ""
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

// ask remembers the questions of an event.
func (c *chain) ask(e ledger.Event, b body) {
	c.questions, c.asked, c.budgets = len(b.Event.Questions), e.Time(), make(map[string]string)
	c.churn = make(map[string]bool)
	for _, q := range b.Event.Questions {
		c.budgets[q.Fingerprint], c.churn[q.Fingerprint] = q.Budget, q.Churn
	}
}

// pay adds an answer such as "raise by $2.50", "10m" or "50000 tokens".
func (l *limits) pay(unit, text string) {
	text, _, _ = strings.Cut(strings.TrimPrefix(strings.ToLower(strings.TrimSpace(text)), "raise by "), " ")
	_, unit, _ = strings.Cut(unit, "-")
	switch n, _ := new(big.Rat).SetString(strings.TrimPrefix(text, "$")); unit {
	case "time":
		d, _ := time.ParseDuration(text)
		l.Task.add(amount{Millis: d.Milliseconds()})
	case "tokens":
		l.Task.add(amount{Tokens: n.Num().Int64()})
	case "dollars":
		l.Task.add(amount{MicroDollars: n.Mul(n, big.NewRat(1_000_000, 1)).Num().Int64()})
	case "rounds":
		l.Rounds += n.Num().Int64()
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
