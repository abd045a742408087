package diff_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/internal/policy/diff"
	"github.com/switchyard-dev/switchyard/policies"
)

// BenchmarkCompare decides a whole domain twice.
func BenchmarkCompare(b *testing.B) {
	from, err := policies.Load(b.Context(), "routing@1.1.0")
	if err != nil {
		b.Fatal(err)
	}
	to, err := policies.Load(b.Context(), "routing@1.2.0")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := diff.Compare(b.Context(), from, to); err != nil {
			b.Fatal(err)
		}
	}
}
