package replay

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// Undecided is the next action of a round that a policy comes to no decision for.
// The reason is then the code of the error. No policy declares it.
const Undecided = "undecided"

// maxRemembered is how many decisions a Decider remembers, at some 300 bytes each.
// Rounds repeat each other: a few hundred inputs make up most ledgers.
const maxRemembered = 1 << 14

// Decider decides recorded rounds again under one policy. It remembers what it has
// decided, as far as its memory goes. It is not safe for concurrent use.
type Decider struct {
	policy *routing.Policy
	memo   map[string]Outcome
	key    []byte
}

// Outcome is what a policy makes of a recorded round. It is shared: its map must
// not be modified.
type Outcome struct {
	// Input is what the policy saw.
	Input routing.Input
	// Decision is Undecided where the policy refused the input or failed on it.
	Decision routing.Decision
}

// NewDecider returns a Decider for a policy.
func NewDecider(p *routing.Policy) *Decider {
	return &Decider{policy: p, memo: make(map[string]Outcome)}
}

// Decide sends the findings of a round where the policy's table says, leaves the
// rest of the input as it was recorded, and lets the policy decide.
//
// # Errors
//
// replay-record-invalid; the end of ctx; and policy-timeout, because how long a policy
// takes is no property of the round. Every other error of the policy is an Outcome.
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
	o := Outcome{Input: in}
	var err error
	o.Decision, err = d.policy.DecideRetrying(ctx, in)
	if err != nil {
		code := errs.CodeOf(err)
		if ctx.Err() != nil || code == errs.PolicyTimeout || code == "" {
			return Outcome{}, err
		}
		o.Decision = routing.Decision{NextAction: Undecided, Reason: string(code)}
	}
	if len(d.memo) == maxRemembered {
		clear(d.memo) // What comes often is soon back.
	}
	d.memo[string(d.key)] = o
	return o, nil
}

// appendKey appends a text that two inputs share exactly where they are equal.
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
