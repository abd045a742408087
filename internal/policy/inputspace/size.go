package inputspace

import "github.com/switchyard-dev/switchyard/internal/policy/routing"

// Size orders counterexamples: of two inputs that show the same, the one with the lesser
// size is easier to read. It adds up rounds, findings, listed destinations, kinds of
// findings, resolved findings, stalled rounds and a red verification. The number is only
// meaningful in comparisons.
func Size(in routing.Input) int {
	size := 0
	add := func(n int) { size += min(n, unbounded) }
	add(in.Round)
	add(in.MaxRounds)
	add(in.FindingCount)
	add(in.ResolvedCount)
	add(in.StalledRounds)
	add(len(in.Routes))
	for _, n := range kindsOf(in) {
		add(min(n, 1))
	}
	if in.Verify == routing.Red {
		add(1)
	}
	return size
}
