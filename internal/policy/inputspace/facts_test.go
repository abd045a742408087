package inputspace

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// factFields are the facts that a policy can compare with numbers.
var factFields = []string{
	"deferred_count", "blocking_count", "induced_count", "induced_rounds", "first_time_count", "reviews_since_low", "rounds_left", "finding_count", "round",
	"stalled_rounds",
}

// anyUses draws the uses of a policy with a bar.
func anyUses(t *rapid.T) uses {
	u := uses{
		thresholds: rapid.MapOfN(rapid.SampledFrom(factFields), rapid.SliceOfN(rapid.IntRange(0, 4), 1, 2), 0, 3).Draw(t, "thresholds"),
		reads:      rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"confinement", "may_extend", "induced_count", "hard_cap", "verify", "no_progress"}), 0, 2, rapid.ID[string]).Draw(t, "reads"),
		facts:      true, bar: rapid.Bool().Draw(t, "bar"),
	}
	for field := range u.thresholds {
		u.reads = append(u.reads, field)
	}
	return u
}

// anyReview draws a consistent input with facts, independent of the domain.
func anyReview(t *rapid.T, destinations []string, bar bool) routing.Input {
	in := anyInput(t, destinations)
	draw := func(name string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(t, name) }
	f := &routing.Facts{HardCap: draw("hard_cap", in.MaxRounds, 20), Confinement: rapid.SampledFrom(confinement.Levels()).Draw(t, "confinement")}
	f.RoundsLeft = max(f.HardCap-in.Round, 0)
	f.MayExtend = f.RoundsLeft > 0 && in.ResolvedCount > 0 && in.RepeatCount+in.ReopenedCount == 0 && in.Verify != routing.Red && rapid.Bool().Draw(t, "may_extend")
	if !bar {
		f.DeferredCount = draw("deferred", 0, 5)
	}
	all := in.FindingCount + f.DeferredCount
	f.BlockingCount = draw("blocking", 0, in.FindingCount)
	if f.FirstTimeCount = draw("first", 0, all); f.FirstTimeCount > 0 {
		f.ReviewsSinceLow = draw("since", 0, 5)
	}
	if rapid.Bool().Draw(t, "known") {
		n := draw("induced", 0, all)
		f.InducedCount = &n
		if f.BlockingCount > 0 && n >= f.BlockingCount {
			f.InducedRounds = draw("induced rounds", 0, 5)
		}
	}
	in.Facts = f
	return in
}

func factsAgree(in routing.Input) bool {
	f := in.Facts
	all := in.FindingCount + f.DeferredCount
	induced := -1
	if f.InducedCount != nil {
		induced = *f.InducedCount
	}
	return agrees(in) && f.HardCap >= in.MaxRounds && f.HardCap <= routing.MaxRoundsLimit && f.RoundsLeft == max(f.HardCap-in.Round, 0) &&
		min(f.FirstTimeCount, f.ReviewsSinceLow, f.InducedRounds, f.BlockingCount, f.DeferredCount) >= 0 &&
		f.FirstTimeCount <= all && induced <= all && f.BlockingCount <= in.FindingCount &&
		(f.ReviewsSinceLow == 0 || f.FirstTimeCount > 0) &&
		(f.InducedRounds == 0 || f.BlockingCount > 0 && induced >= f.BlockingCount) &&
		(!f.MayExtend || f.RoundsLeft > 0 && in.ResolvedCount > 0 && in.RepeatCount+in.ReopenedCount == 0 && in.Verify != routing.Red) &&
		slices.Contains(confinement.Levels(), f.Confinement)
}

// factKey names the class of an input's facts, by the policy's uses.
func factKey(d *Domain, u uses, in routing.Input) string {
	f := in.Facts
	numbers := map[string]int{
		"deferred_count": f.DeferredCount, "blocking_count": f.BlockingCount, "induced_rounds": f.InducedRounds,
		"first_time_count": f.FirstTimeCount, "reviews_since_low": f.ReviewsSinceLow, "rounds_left": f.RoundsLeft,
		"finding_count": in.FindingCount, "round": in.Round, "stalled_rounds": in.StalledRounds,
	}
	var parts []string
	for _, field := range factFields {
		if n, ok := numbers[field]; ok && len(u.thresholds[field]) > 0 {
			parts = append(parts, fmt.Sprint(field, on(counts.split(u.thresholds[field]), n)))
		}
	}
	for _, field := range u.reads {
		switch field {
		case "confinement":
			parts = append(parts, string(f.Confinement))
		case "may_extend":
			parts = append(parts, fmt.Sprint("extends ", f.MayExtend))
		case "hard_cap":
			parts = append(parts, fmt.Sprint("last ", cmp.Compare(in.Round, f.HardCap)))
		case "verify":
			parts = append(parts, string(in.Verify))
		case "no_progress":
			parts = append(parts, fmt.Sprint("no progress ", in.NoProgress))
		case "induced_count":
			if f.InducedCount == nil {
				parts = append(parts, "unknown")
			} else {
				parts = append(parts, fmt.Sprint("induced ", on(counts.split(u.thresholds[field]), *f.InducedCount)))
			}
		}
	}
	if !u.bar {
		parts = append(parts, key(d.Class(in)))
	}
	return fmt.Sprintf("%q %s", parts, capPosition(in))
}

// Of whatever a policy reads, every possible input has a class, and the inputs of a class
// are consistent and alike.
func TestEveryFactHasAClass(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	rapid.Check(t, func(t *rapid.T) {
		u := anyUses(t)
		d, err := of(names[:1], u)
		if err != nil {
			t.Fatal(err)
		}
		classes, keys := make(map[string]bool, d.Len()), make(map[string]bool, d.Len())
		for i := range d.Len() {
			at, probe := d.At(i), d.Sample(i, uint64(i))
			if !factsAgree(at) || !factsAgree(probe) {
				t.Fatalf("class %d contradicts itself: %+v %+v, %+v %+v", i, at, at.Facts, probe, probe.Facts)
			}
			if a, b := factKey(d, u, at), factKey(d, u, probe); a != b {
				t.Fatalf("%+v %+v of %s is a probe of %s", probe, probe.Facts, b, a)
			}
			if a, b := d.AppendKey(nil, at), d.AppendKey(nil, probe); !bytes.Equal(a, b) {
				t.Fatalf("%+v %+v has the key %q, its class has %q", probe, probe.Facts, b, a)
			}
			classes[factKey(d, u, at)] = true
			keys[string(d.AppendKey(nil, at))] = true
		}
		if len(keys) != d.Len() {
			t.Fatalf("%d keys for %d classes", len(keys), d.Len())
		}
		for range 20 {
			in := anyReview(t, d.destinations, u.bar)
			if !slices.Contains(u.reads, "confinement") {
				in.Confinement = confinement.None
			}
			if k := factKey(d, u, in); !classes[k] {
				t.Fatalf("%+v %+v is %s, and in no class", in, in.Facts, k)
			}
			if !keys[string(d.AppendKey(nil, in))] {
				t.Fatalf("%+v %+v has a key of no class", in, in.Facts)
			}
		}
	})
}
