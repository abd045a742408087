package routing_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

// reported is the part of an outcome that tests compare.
type reported struct {
	decision routing.Decision
	code     errs.Code
}

func tellAll(outcomes []routing.Outcome) []reported {
	all := make([]reported, len(outcomes))
	for i, o := range outcomes {
		all[i] = reported{o.Decision, errs.CodeOf(o.Err)}
	}
	return all
}

// Deciding inputs together or separately gives the same results. Inputs that are rejected
// or that the policy fails on do not affect others.
func TestDecideAllDecidesAsDecide(t *testing.T) {
	refused := clean()
	refused.Round = 0
	ins := []routing.Input{
		input(2, 3, routing.Green, nil),
		refused,
		input(1, 3, routing.Green, nil), // 1 / 0
		input(3, 3, routing.Red, map[string]int{"fixer": 2}),
		input(4, 3, routing.Green, nil), // undefined
		input(2, 3, routing.Green, map[string]int{"fixer": 1}),
	}
	want := []reported{
		{routing.Decision{NextAction: "commit", Reason: "no-findings"}, ""},
		{routing.Decision{}, errs.PolicyInvalidInput},
		{routing.Decision{}, errs.PolicyFailed},
		{routing.Decision{NextAction: "fixer", Reason: "last"}, ""},
		{routing.Decision{}, errs.PolicyUndefined},
		{routing.Decision{}, errs.PolicyUnsafeCommit},
	}
	for _, p := range onBothEngines(t, `decision := {"next_action": "fixer", "reason": "last"} if {
	input.round == 3
} else := {"next_action": "commit", "reason": "no-findings"} if {
	input.round < 4
	1 / (input.round - 1) > 0
}`) {
		if got := tellAll(p.DecideAll(t.Context(), ins)); !slices.Equal(got, want) {
			t.Errorf("%s: together %+v, want %+v", p.Engine(), got, want)
		}
		for i, in := range ins {
			d, err := p.Decide(t.Context(), in)
			if got := (reported{d, errs.CodeOf(err)}); got != want[i] {
				t.Errorf("%s: alone %+v, want %+v", p.Engine(), got, want[i])
			}
		}
		if got := p.DecideAll(t.Context(), nil); len(got) != 0 {
			t.Errorf("%s: no inputs come to %+v", p.Engine(), got)
		}
	}
}

// Inputs after one that never ends would take as long, so they are not evaluated.
// Outcomes before it are returned.
func TestDecideAllEndsWithTheFirstThatTakesTooLong(t *testing.T) {
	t.Parallel()
	p := deciding(t, `decision := {"next_action": "commit", "reason": "no-findings"} if {
	input.round == 1
} else `+strings.TrimPrefix(endless, "decision "))
	second := input(2, 3, routing.Green, nil)
	got := tellAll(p.DecideAll(t.Context(), []routing.Input{clean(), second, clean()}))
	want := []reported{
		{routing.Decision{NextAction: "commit", Reason: "no-findings"}, ""},
		{routing.Decision{}, errs.PolicyTimeout},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// If there are fewer outcomes than inputs, the last one has an error, so that missing
// inputs are not taken for decided ones.
func TestDecideAllSaysThatItWasInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	got := load(t, policies.Default).DecideAll(ctx, []routing.Input{clean(), clean()})
	if len(got) != 1 || !errors.Is(got[0].Err, context.Canceled) {
		t.Errorf("got %+v", got)
	}
}
