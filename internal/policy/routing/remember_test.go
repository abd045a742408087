package routing_test

import (
	"context"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// AskOnce answers as Ask does, whatever it was asked before.
func TestAskOnceIsAsk(t *testing.T) {
	undefined := deciding(t, `decision := {"next_action": "executor", "reason": "some"} if input.finding_count > 2`)
	for _, p := range []*routing.Policy{load(t, "routing@1.1.0"), load(t, "routing@1.3.0"), undefined} {
		rapid.Check(t, func(t *rapid.T) {
			in := anyInput(t)
			for _, rule := range []routing.Rule{routing.DecisionRule, routing.BarRule} {
				want, wantErr := p.Ask(context.Background(), rule, in)
				got, err := p.AskOnce(context.Background(), rule, in)
				if got != want || errs.CodeOf(err) != errs.CodeOf(wantErr) {
					t.Fatalf("%s, %s: %+v, %v, want %+v, %v", p, rule, got, err, want, wantErr)
				}
			}
		})
	}
}

// AskOnce does not remember that it was interrupted.
func TestAskOnceAgain(t *testing.T) {
	p := load(t, "routing@1.3.0")
	done, stop := context.WithCancel(t.Context())
	stop()
	if _, err := p.AskOnce(done, routing.DecisionRule, clean()); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	if d, err := p.AskOnce(t.Context(), routing.DecisionRule, clean()); err != nil || d.NextAction != routing.Commit {
		t.Errorf("got %+v, %v", d, err)
	}
}
