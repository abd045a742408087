package worker_test

import (
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/internal/confinement"
)

// TestRequiredLevels tests that an order goes to the workers that reach the level that the
// project requires of its processes.
func TestRequiredLevels(t *testing.T) {
	for _, c := range []struct {
		name, config string
		want         []confinement.Level // of the executor, the review and the commit
	}{
		{"default", "verify: \"true\"\n", []confinement.Level{confinement.None, confinement.None, confinement.None}},
		{"off", "spawn: {confine: off}\nverify: \"true\"\n", []confinement.Level{confinement.None, confinement.None, confinement.None}},
		{"agents", "spawn: {confine: required files}\nverify: \"true\"\n", []confinement.Level{confinement.Files, confinement.Files, confinement.None}},
		{
			"both", "spawn: {confine: required files}\nverify: {command: \"true\", confine: required files+ports}\n",
			[]confinement.Level{confinement.Files, confinement.Ports, confinement.None},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHand(t, c.config, oneRound())
			var got, want []string
			for i, adapter := range []string{"claude", "claude", flow.AnyAdapter} {
				want = append(want, flow.WorkQueue(adapter, c.want[i]))
			}
			for m := (flow.Move{}); ; {
				h.advance(t, m)
				if h.at.Order == "" {
					break
				}
				got = append(got, h.at.Queue)
				done := h.carry(t, "worker")
				m.Result, m.Draft = done.Result, done.Draft
			}
			if !slices.Equal(got, want) {
				t.Errorf("orders go to %q, want %q", got, want)
			}
		})
	}
}
