package inputspace

import "github.com/switchyard-dev/switchyard/internal/policy/routing"

// Size orders counterexamples: of two inputs that show the same, the one of
// lesser size is simpler to read. It counts what a reader has to take in: rounds,
// findings, destinations that are listed, kinds of findings, what was resolved, how
// long nothing moved, and a red verification. The number means nothing by itself.
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
