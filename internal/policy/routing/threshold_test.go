package routing_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

func TestThresholdsOfTheReleasedVersions(t *testing.T) {
	plain := map[string][]int{"finding_count": {0}, "routes": {0}}
	stalling := map[string][]int{"finding_count": {0}, "routes": {0}, "stalled_rounds": {0, 2}}
	for ref, want := range map[string]map[string][]int{
		"routing@1.0.0": plain, "routing@1.1.0": plain, "routing@1.2.0": stalling,
	} {
		got := load(t, ref).Thresholds(routing.DecisionRule)
		if !maps.EqualFunc(got.Fields, want, slices.Equal) || len(got.Unknown) != 0 {
			t.Errorf("%s: thresholds are %v, unknown %v", ref, got.Fields, got.Unknown)
		}
	}
}

// conditional returns a policy whose decision depends on a condition.
func conditional(t *testing.T, condition, rules string) *routing.Policy {
	t.Helper()
	return deciding(t, `decision := {"next_action": "stuck", "reason": "a"} if {
	`+condition+`
} else := {"next_action": "fixer", "reason": "b"}

`+rules)
}

// Every number that a rule can compare a number of the input with is found, through any
// number of steps.
func TestThresholdsAreFound(t *testing.T) {
	type fields = map[string][]int
	for _, tc := range []struct {
		condition, rules string
		want             fields
	}{
		{`input.stalled_rounds >= 5`, "", fields{"stalled_rounds": {5}}},
		{`5 < input.stalled_rounds`, "", fields{"stalled_rounds": {5}}},
		{`input.round == 2; input.max_rounds != 1`, "", fields{"round": {2}, "max_rounds": {1}}},
		{`input.round = 2`, "", fields{"round": {2}}},
		{`2 = input.round`, "", fields{"round": {2}}},
		{`not input.finding_count > 10`, "", fields{"finding_count": {10}}},
		{`input["new_count"] > 1`, "", fields{"new_count": {1}}},
		{`input.resolved_count > 1; input.reopened_count < 3; input.repeat_count <= 4`, "",
			fields{"resolved_count": {1}, "reopened_count": {3}, "repeat_count": {4}}},
		{`input.round > 2.5`, "", fields{"round": {2, 3}}},
		{`input.round > -2.5`, "", fields{"round": {-3, -2}}},
		{`input.round > 1e2`, "", fields{"round": {100}}},
		{`input.round > 2.0`, "", fields{"round": {2}}},
		{`input.round >= input.max_rounds`, "", fields{}},
		{`input.verify == "red"; input.no_progress`, "", fields{}},
		{`input.round > "a"`, "", fields{}},
		{`input.routes`, "", fields{}},

		{`input.routes.fixer > 3`, "", fields{"routes.fixer": {3}}},
		{`some n in input.routes; n > 3`, "", fields{"routes": {3}}},
		{`some name, n in input.routes; n > 3; name != "stuck"`, "", fields{"routes": {3}}},
		{`input.routes[_] > 3`, "", fields{"routes": {3}}},
		{`every n in input.routes { n < 3 }`, "", fields{"routes": {3}}},
		{`every name in ["stuck", "fixer"] { input.routes[name] > 3 }`, "", fields{"routes": {3}}},
		{`count({name | input.routes[name] > 3}) > 1`, "", fields{"routes": {3}}},
		{`object.get(input.routes, "fixer", 0) > 3`, "", fields{"routes": {3}}},
		{`7 in input.routes`, "", fields{"routes": {7}}},
		{`x := input.round > 3; x`, "", fields{"round": {3}}},

		{`x := input; x.round > 3`, "", fields{"round": {3}}},
		{`x := input.routes; x.fixer > 3`, "", fields{"routes.fixer": {3}}},
		{`x := input.round; y := x; y > 3`, "", fields{"round": {3}}},
		{`x = input.round; x == 3`, "", fields{"round": {3}}},
		{`x := 3; input.round == x`, "", fields{"round": {3}}},
		{`some x in [3, 5]; input.round == x`, "", fields{"round": {3, 5}}},
		{`input.round in {3, 5}`, "", fields{"round": {3, 5}}},
		{`x := {"a": 3, "b": {"c": [5]}}; x.b.c[0] == input.round`, "", fields{"round": {3, 5}}},

		{`_late`, "_late if input.round > 3", fields{"round": {3}}},
		{`not _late`, "_late if input.round > 3", fields{"round": {3}}},
		{`_round > 3`, "_round := input.round", fields{"round": {3}}},
		{`_all.round > 3`, "_all := input", fields{"round": {3}}},
		{`_routes.fixer > 3`, "_routes := input.routes", fields{"routes.fixer": {3}}},
		{`input.round > _limit`, "_limit := 3", fields{"round": {3}}},
		{`input.round > _limit`, "default _limit := 3\n\n_limit := 5 if input.verify == \"red\"", fields{"round": {3, 5}}},
		{`input.round > _limit`, "_limit := 3 if input.verify == \"red\" else := 5", fields{"round": {3, 5}}},
		{`input.round > _limits[input.verify]`, `_limits := {"green": 3, "red": 5}`, fields{"round": {3, 5}}},
		{`some x in _limits; input.round > x`, "_limits contains 3\n\n_limits contains 5", fields{"round": {3, 5}}},
		{`input.round > _limits.a`, "_limits.a := 3\n\n_limits.b := 5", fields{"round": {3}}},
		{`_over(input.round)`, "_over(n) if n > 3", fields{"round": {3}}},
		{`_over(input.round, 4); _over(input.new_count, 5)`, "_over(n, limit) if n > limit", fields{"new_count": {4, 5}, "round": {4, 5}}},
		{`_a(input.round)`, "_a(n) if _b(n)\n\n_b(n) if n > 3", fields{"round": {3}}},
		{`_kind(input.round) == 9`, "_kind(3) := 9\n\n_kind(5) := 8", fields{"round": {3, 5}}},
		{`_has(input.routes, "fixer")`, "_has(routes, name) if routes[name] > 3", fields{"routes": {3}}},
		{`_size(input.round) == "s"`, "_size(n) := \"s\" if n < 3 else := \"m\" if n < 5 else := \"l\"", fields{"round": {3, 5}}},

		{`data.switchyard.routing._late`, "_late if input.round > 3", fields{"round": {3}}},
		{`true`, "_unused if input.round > 3", fields{}},
	} {
		t.Run(tc.condition, func(t *testing.T) {
			got := conditional(t, tc.condition, tc.rules).Thresholds(routing.DecisionRule)
			if !maps.EqualFunc(got.Fields, tc.want, slices.Equal) || len(got.Unknown) != 0 {
				t.Errorf("thresholds are %v, unknown %v; want %v", got.Fields, got.Unknown, tc.want)
			}
		})
	}
}

// Uses that cannot be bounded are reported with their location, so that an enumeration is
// not taken for complete.
func TestUsesThatCannotBeBoundedAreUnknown(t *testing.T) {
	for _, tc := range []struct {
		condition, rules string
		at               string // part of the line that is shown
	}{
		{`input.round + 1 > input.max_rounds`, "", "input.round + 1"},
		{`input.round % 2 == 0`, "", "input.round % 2"},
		{`input.repeat_count == input.finding_count`, "", "input.repeat_count =="},
		{`input.routes.fixer > input.routes.stuck`, "", "input.routes.fixer >"},
		{`input.routes.fixer == input.finding_count`, "", "input.routes.fixer =="},
		{`n := input.routes.fixer; n == input.routes.stuck`, "", "n == input.routes.stuck"},
		{`count(input.routes) > 1`, "", "count(input.routes)"},
		{`input.routes == {}`, "", "input.routes == {}"},
		{`input == {}`, "", "input == {}"},
		{`sum([n | some n in input.routes]) > 3`, "", "sum("},
		{`max({n | some n in input.routes}) > 3`, "", "max("},
		{`"fixer" in object.keys(input.routes)`, "", "object.keys"},
		{`sprintf("%d", [input.round]) == "3"`, "", "sprintf"},
		{`$"{input.round}" == "3"`, "", "$"},
		{`x := [input.round]; x[0] > 3`, "", "x := ["},
		{`x := {"a": input.round}; x.a > 3`, "", "x := {"},
		{`[x, _] = [input.round, 1]; x > 3`, "", "[x, _] ="},
		{`some field; input[field] > 3`, "", "input[field]"},
		{`some n in input; n == 3`, "", "some n in input"},
		{`walk(input, [_, n]); n == 3`, "", "walk("},
		{`[1, 2, 3][input.round] == 2`, "", "[1, 2, 3][input.round]"},
		{`_names[input.round] == "a"`, `_names := {1: "a"}`, "_names[input.round]"},
		{`input.finding_count > count(precedence)`, "", "count(precedence)"},
		{`some i; precedence[i] == "stuck"; input.round == i`, "", "input.round == i"},
		{`input.round > 1e300`, "", "1e300"},
		{`input.round > 9007199254740993`, "", "9007199254740993"},
		{`_late with input.round as 3`, "_late if input.round == 3", "with input.round"},
		{`_next(input.round) > 3`, "_next(n) := n + 1", "_next(n)"},
		{`_same(input.round) > 3`, "_same(n) := n", "_same(n)"},
		{`_both == 3`, "_both := input.round\n\n_both := input.new_count", "_both == 3"},
		{`_any > 3`, "_any := n if some n in input.routes", "_any :="},
		{`_set[_] > 3`, "_set contains input.round", "_set contains"},
		{`_counts.fixer > 3`, "_counts[name] := n if some name, n in input.routes", "_counts[name]"},
	} {
		t.Run(tc.condition, func(t *testing.T) {
			got := conditional(t, tc.condition, tc.rules).Thresholds(routing.DecisionRule)
			shown := func(at routing.Location) bool { return strings.Contains(at.Text, tc.at) && at.Row > 0 && at.File != "" }
			if !slices.ContainsFunc(got.Unknown, shown) {
				t.Errorf("unknown are %v, and none at %q", got.Unknown, tc.at)
			}
		})
	}
}

// A helper package can contain the input in its document.
func TestAPackageThatHoldsTheInputIsUnknown(t *testing.T) {
	p := load(t, writeDir(t, map[string]string{
		"policy.rego": goodMetadata + goodTables + "decision := {\"next_action\": \"stuck\", \"reason\": \"a\"} if {\n\tlib := data.lib\n\tlib.round > 3\n}\n",
		"lib.rego":    "package lib\n\nround := input.round\n",
	}))
	if got := p.Thresholds(routing.DecisionRule); len(got.Unknown) != 1 || got.Unknown[0].Text != "lib := data.lib" {
		t.Errorf("thresholds are %+v", got)
	}
}

// Counts between two thresholds get the same decision, as Thresholds promises. Checks
// random conditions over all fields, with inputs that differ in one number and are on the
// same side of every threshold.
func TestCountsBetweenThresholdsAreDecidedAlike(t *testing.T) {
	atoms := []string{
		"input.stalled_rounds > %d", "input.finding_count >= %d", "input.round == %d", "input.routes.fixer > %d",
		"not input.routes.fixer > %d", "some n in input.routes; n < %d", "every n in input.routes { n > %d }",
		"_at_least(input.resolved_count, %d)", "input.max_rounds != %d", "object.get(input.routes, \"stuck\", 0) == %d",
		"input.round in {%d, 4}", "x := input.routes; x.stuck >= %d",
	}
	rapid.Check(t, func(rt *rapid.T) {
		var conditions []string
		for range rapid.IntRange(1, 3).Draw(rt, "conditions") {
			atom := rapid.SampledFrom(atoms).Draw(rt, "atom")
			conditions = append(conditions, strings.ReplaceAll(atom, "%d", rapid.SampledFrom([]string{"0", "1", "2", "5", "9"}).Draw(rt, "number")))
		}
		for i := range conditions { // each on its own, so that variables do not collide
			conditions[i] = "count([1 | " + conditions[i] + "]) > 0"
		}
		p := conditional(t, strings.Join(conditions, "\n\t"), "_at_least(n, limit) if n >= limit")
		thresholds := p.Thresholds(routing.DecisionRule)
		if len(thresholds.Unknown) > 0 {
			rt.Fatalf("unknown: %v", thresholds.Unknown)
		}
		fixer, stuck := rapid.IntRange(0, 20).Draw(rt, "fixer"), rapid.IntRange(0, 20).Draw(rt, "stuck")
		a := input(rapid.IntRange(1, 20).Draw(rt, "round"), rapid.IntRange(1, 20).Draw(rt, "max_rounds"), routing.Green,
			map[string]int{"fixer": fixer, "stuck": stuck})
		a.ResolvedCount = rapid.IntRange(0, 20).Draw(rt, "resolved_count")
		b := a
		b.Round, b.ResolvedCount = rapid.IntRange(1, 20).Draw(rt, "other round"), rapid.IntRange(0, 20).Draw(rt, "other resolved_count")
		same := func(field string, x, y int) bool {
			return !slices.ContainsFunc(thresholds.Fields[field], func(n int) bool { return (x < n) != (y < n) || (x > n) != (y > n) })
		}
		if !same("round", a.Round, b.Round) || !same("resolved_count", a.ResolvedCount, b.ResolvedCount) {
			return
		}
		want, err := p.Decide(t.Context(), a)
		if err != nil {
			rt.Fatal(err)
		}
		if got, err := p.Decide(t.Context(), b); err != nil || got != want {
			rt.Errorf("%+v is decided %v, %v; %+v is decided %v; the thresholds are %v", b, got, err, a, want, thresholds.Fields)
		}
	})
}
