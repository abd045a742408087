package replay

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// Recorded is a recorded round: everything needed to decide it again, and its decision.
type Recorded struct {
	// Seq is the event's number in its ledger, N its number in its task.
	Seq, N int64
	Task   string
	Round  int
	// At is the time of the decision: RFC 3339 in UTC.
	At string
	// Input is the input given to the policy.
	Input routing.Input
	// Categories are the categories of the findings.
	Categories []Category
	Decision   routing.Decision
	// Policy is the policy that decided.
	Policy routing.Identity
}

// Category counts the findings of a round that have the same category and destination.
type Category struct {
	Name string
	// Route is their recorded destination. Unknown reports that the policy did not know
	// the category.
	Route   string
	Unknown bool
	// Count is at least 1.
	Count int
}

// check fails if r contradicts itself. Inputs that only a policy would reject are left to
// the policy.
func (r Recorded) check() error {
	switch {
	case r.Task == "":
		return r.fault("it has no task")
	case r.Round != r.Input.Round:
		return r.fault("it was round %d, and its input says %d", r.Round, r.Input.Round)
	case !routing.IsName(r.Decision.NextAction) || !routing.IsName(r.Decision.Reason):
		return r.fault("%.80q for the reason %.80q is no decision", r.Decision.NextAction, r.Decision.Reason)
	case r.Policy.Digest == "":
		return r.fault("it does not say which policy decided")
	}
	findings := 0
	routes := make(map[string]int)
	for _, c := range r.Categories {
		if c.Count < 1 {
			return r.fault("it has %d findings of category %.80q", c.Count, c.Name)
		}
		findings += c.Count
		routes[c.Route] += c.Count
	}
	if findings != r.Input.FindingCount {
		return r.fault("it has %d findings, and its input says %d", findings, r.Input.FindingCount)
	}
	for name, n := range r.Input.Routes {
		routes[name] -= n
	}
	for _, n := range routes {
		if n != 0 {
			return r.fault("the routes of its findings are not those of its input")
		}
	}
	return nil
}

func (r Recorded) fault(format string, args ...any) error {
	return errs.New(errs.ReplayRecordInvalid, "event %d of task %s tells nothing: %w", r.N, r.Task, fmt.Errorf(format, args...)).
		With("task", r.Task).With("event", r.N)
}

// maxRemembered bounds the decisions that a Decider caches, at some 300 bytes each.
// Rounds repeat: a few hundred inputs make up most ledgers.
const maxRemembered = 1 << 14

// Decider decides recorded rounds again with one policy. It caches decisions up to a
// limit. It is not safe for concurrent use.
type Decider struct {
	policy *routing.Policy
	memo   map[string]Outcome
	key    []byte
}

// Outcome is a policy's result for a recorded round. It is shared: its map must not be
// modified.
type Outcome struct {
	// Input is the input given to the policy.
	Input routing.Input
	// Decision is routing.Undecided if the policy rejected the input or failed on it.
	Decision routing.Decision
}

// NewDecider returns a Decider for a policy.
func NewDecider(p *routing.Policy) *Decider {
	return &Decider{policy: p, memo: make(map[string]Outcome)}
}

// Decide sends a round's findings to the destinations of the policy's table, keeps the
// rest of the recorded input, and lets the policy decide.
//
// # Errors
//
// replay-record-invalid; the end of ctx; and policy-timeout, because a policy's speed is
// not a property of the round. Any other error of the policy is an Outcome.
func (d *Decider) Decide(ctx context.Context, r Recorded) (Outcome, error) {
	if err := r.check(); err != nil {
		return Outcome{}, err
	}
	in := r.Input
	in.Routes = make(map[string]int, len(r.Categories))
	for _, c := range r.Categories {
		to, _ := d.policy.Route(c.Name)
		in.Routes[to] += c.Count
	}
	return d.decide(ctx, in)
}

func (d *Decider) decide(ctx context.Context, in routing.Input) (Outcome, error) {
	d.key = appendKey(d.key[:0], in)
	if o, ok := d.memo[string(d.key)]; ok {
		return o, nil
	}
	made, err := d.policy.DecideOrCode(ctx, in)
	if err != nil {
		return Outcome{}, err
	}
	o := Outcome{Input: in, Decision: made}
	if len(d.memo) == maxRemembered {
		clear(d.memo) // Frequent inputs are soon cached again.
	}
	d.memo[string(d.key)] = o
	return o, nil
}

// appendKey appends a key that is equal for two inputs if and only if they are equal.
func appendKey(key []byte, in routing.Input) []byte {
	for _, n := range []int{
		in.Round, in.MaxRounds, in.FindingCount, in.NewCount, in.RepeatCount, in.ReopenedCount, in.ResolvedCount, in.StalledRounds,
	} {
		key = binary.AppendVarint(key, int64(n))
	}
	if in.NoProgress {
		key = append(key, 1)
	} else {
		key = append(key, 0)
	}
	key = appendText(key, string(in.Verify))
	for _, name := range slices.Sorted(maps.Keys(in.Routes)) {
		key = appendText(key, name)
		key = binary.AppendVarint(key, int64(in.Routes[name]))
	}
	return key
}

func appendText(key []byte, s string) []byte {
	return append(binary.AppendUvarint(key, uint64(len(s))), s...)
}
