package routing_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// TestDifferentInputsHaveDifferentKeys checks that two inputs share a key if and only if they
// are equal.
func TestDifferentInputsHaveDifferentKeys(t *testing.T) {
	small := rapid.IntRange(-1, 1)
	inputs := rapid.Custom(func(t *rapid.T) routing.Input {
		return routing.Input{
			Round: small.Draw(t, "round"), MaxRounds: small.Draw(t, "max_rounds"), FindingCount: small.Draw(t, "finding_count"),
			Routes:   rapid.MapOfN(rapid.SampledFrom([]string{"", "a", "aa", "\x01a", "a\x02"}), small, 0, 3).Draw(t, "routes"),
			Verify:   routing.Verify(rapid.SampledFrom([]string{"green", "red", "re"}).Draw(t, "verify")),
			NewCount: small.Draw(t, "new_count"), RepeatCount: small.Draw(t, "repeat_count"), ReopenedCount: small.Draw(t, "reopened_count"),
			ResolvedCount: small.Draw(t, "resolved_count"), NoProgress: rapid.Bool().Draw(t, "no_progress"), StalledRounds: small.Draw(t, "stalled_rounds"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := inputs.Draw(t, "a"), inputs.Draw(t, "b")
		if rapid.Bool().Draw(t, "near") { // two random inputs are never close
			b = a
			b.Routes = inputs.Draw(t, "routes of").Routes
		}
		for _, in := range []*routing.Input{&a, &b} {
			if rapid.Bool().Draw(t, "facts") {
				in.Facts = &routing.Facts{
					HardCap: small.Draw(t, "hard_cap"), MayExtend: rapid.Bool().Draw(t, "may_extend"), DeferredCount: small.Draw(t, "deferred_count"),
					Confinement: rapid.SampledFrom([]confinement.Level{"", "none", "no"}).Draw(t, "confinement"),
				}
				if n := small.Draw(t, "induced_count"); n >= 0 {
					in.InducedCount = &n
				}
			}
		}
		if same := string(a.AppendKey(nil, nil)) == string(b.AppendKey(nil, nil)); same != reflect.DeepEqual(a, b) {
			t.Fatalf("%+v and %+v share their key: %t", a, b, same)
		}
	})
}
