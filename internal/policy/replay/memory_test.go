package replay

import (
	"fmt"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

// TestMemoryIsBounded checks that evicted decisions are made again.
func TestMemoryIsBounded(t *testing.T) {
	p, err := policies.Load(t.Context(), "routing@1.2.0")
	if err != nil {
		t.Fatal(err)
	}
	d := NewDecider(p)
	first := routing.Input{Round: 1, MaxRounds: 1, Verify: routing.Green}
	want, err := d.decide(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; len(d.memo) < maxRemembered; i++ {
		d.memo[fmt.Sprint(i)] = Outcome{}
	}
	second := routing.Input{Round: 2, MaxRounds: 1, Verify: routing.Green}
	if _, err := d.decide(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	if len(d.memo) > maxRemembered {
		t.Errorf("it remembers %d decisions, more than %d", len(d.memo), maxRemembered)
	}
	if got, err := d.decide(t.Context(), first); err != nil || got.Decision != want.Decision {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}
