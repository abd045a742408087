// Package exhaustive tells tests whether to try every case or a sample of them.
//
// A test that checks one property in many cases (a kill before every write, damage of every
// byte, every version) tries a few cases by default, always the same ones, and all of them
// in make test-exhaustive.
package exhaustive

import (
	"os"
	"testing"
)

// variable is the environment variable that asks for every case.
const variable = "SWITCHYARD_EXHAUSTIVE"

// Enabled reports whether tests try every case.
func Enabled() bool { return os.Getenv(variable) != "" }

// Require skips a test that does not run by default. reason says why.
func Require(t testing.TB, reason string) {
	t.Helper()
	if !Enabled() {
		t.Skipf("skipped without %s=1 (make test-exhaustive): %s", variable, reason)
	}
}

// Count returns the number of repetitions: sample by default, and all in an exhaustive run.
func Count[N int | uint64](sample, all N) N {
	if Enabled() {
		return all
	}
	return sample
}

// Sample returns n of the cases by default, evenly spread and including the first and the
// last, and all of them in an exhaustive run. n is at least 2.
func Sample[T any](cases []T, n int) []T {
	if Enabled() || len(cases) <= n {
		return cases
	}
	sample := make([]T, n)
	for i := range sample {
		sample[i] = cases[i*(len(cases)-1)/(n-1)]
	}
	return sample
}
