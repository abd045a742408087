package check_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/internal/policy/check"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

// BenchmarkVerify checks every released version; all together should take less than 1.5 s.
func BenchmarkVerify(b *testing.B) {
	var all []*routing.Policy
	for _, ref := range policies.Versions() {
		p, err := policies.Load(b.Context(), ref)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, p)
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, p := range all {
			r, err := check.Verify(b.Context(), p, check.Options{Raised: raisedFor(p)})
			if err != nil || !r.Passes() {
				b.Fatal(r.Results, err)
			}
		}
	}
}
