package policies_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/host/fault"
	"github.com/switchyard-dev/switchyard/policies"
)

// engines are all of them.
var engines = []policies.Engine{policies.EngineRego, policies.EngineWasm}

// onBothEngines loads a policy that is valid but for its decision, once for
// every engine.
func onBothEngines(t *testing.T, decision string) []*policies.Policy {
	t.Helper()
	dir := policyDir(t, goodMetadata+goodTables+decision+"\n")
	loaded := make([]*policies.Policy, len(engines))
	for i, engine := range engines {
		loaded[i] = loadOn(t, engine, dir)
	}
	return loaded
}

// loadOn loads a policy for one engine.
func loadOn(t testing.TB, engine policies.Engine, ref string) *policies.Policy {
	t.Helper()
	p, err := policies.Loader{Engine: engine}.Load(t.Context(), ref)
	if err != nil {
		t.Fatalf("Load(%q) on %s: %v", ref, engine, err)
	}
	if p.Engine() != engine {
		t.Fatalf("loaded for %s, it is evaluated by %s", engine, p.Engine())
	}
	return p
}

func TestTheInterpreterIsTheDefault(t *testing.T) {
	if got := load(t, policies.Default).Engine(); got != policies.EngineRego {
		t.Errorf("the default engine is %q", got)
	}
}

func TestAnUnknownEngineIsRefused(t *testing.T) {
	for _, ref := range []string{policies.Default, policyDir(t, goodPolicy)} {
		_, err := policies.Loader{Engine: "jvm"}.Load(t.Context(), ref)
		wantCode(t, err, policies.CodeInvalidInput)
	}
}

// Both engines decide alike over all that a decision can depend on.
func TestEnginesAgreeExhaustively(t *testing.T) {
	for _, ref := range policies.Versions() {
		interpreted, compiled := loadOn(t, policies.EngineRego, ref), loadOn(t, policies.EngineWasm, ref)
		inputs := 0
		everyInput(func(in policies.Input) {
			inputs++
			want, err := interpreted.Decide(t.Context(), in)
			if err != nil {
				t.Fatalf("%s: %+v: %v", ref, in, err)
			}
			if got, err := compiled.Decide(t.Context(), in); err != nil || got != want {
				t.Fatalf("%s: %+v: compiled decides %+v, %v; interpreted %+v", ref, in, got, err, want)
			}
		})
		if inputs < 2000 {
			t.Errorf("%s: only %d inputs were tried", ref, inputs)
		}
	}
}

// A policy that fails fails on both engines, at the same inputs and with the same
// code, and one that does not decides the same. Each of these has something
// that an engine could do otherwise: leave out a rule that its index rules out, stop
// after the first solution, make a failing built-in undefined, count in floats.
func TestEnginesAgreeOnWhatIsOdd(t *testing.T) {
	const x, y = `{"next_action": "stuck", "reason": "x"}`, `{"next_action": "fixer", "reason": "y"}`
	when := func(condition string) string { return "decision := " + x + " if { " + condition + " } else := " + y }
	for _, decision := range []string{
		when(`1 / (input.round - 1) > 3; input.verify == "red"`),
		when(`input.verify == "red"; 1 / (input.round - 1) > 3`),
		when(`false; 1 / 0 == 3`),
		when(`not 1 / 0 == 3`),
		when(`count([1 | some a in [3]; a == 1 / 0]) == 0`),
		when(`every a in [1, 0] { 1 / a > 0 }`),
		when(`count(input.round) > 2`),
		when(`sum([input.verify]) > 2`),
		when(`"a" in input.verify`),
		when(`to_number("x") == 3`),
		when(`sprintf("%d", ["x"]) == "3"`),
		when(`json.unmarshal("{") == 3`),
		when(`regex.match("(", "x")`),
		when(`time.parse_rfc3339_ns("x") > 1`),
		when(`units.parse("3q") == 1`),
		when(`max([]) == 1`),
		when(`bits.and(1, 1.5) == 1`),
		when(`array.concat(input.verify, [1]) == [1]`),
		when(`object.get(input, ["routes", "fixer"], 0) > 0`),
		when(`walk(input, [["verify"], v]); v == "green"`),
		when(`9007199254740993 > 9007199254740992`),
		when(`0.1 + 0.2 == 0.3`),
		when(`1e400 > 1e399`),
		when(`{1.0, 1} == {1}`),
		when(`"é" < "z"`),
		when(`$"{input.round}" == "1"`),
		when(`print("x", input.round); input.round > 0`),
		when(`trace("x")`),
		when(`[a, b] = [1, input.round]; a == b`),
		when(`input.routes = {"fixer": n}; n > 0`),
		when(`count(input.routes) == 0`),
		when(`p`) + "\np if { some a in [1, 0]; 1 / a > 0 }",
		when(`p`) + "\np if { some a in [0, 1]; 1 / a > 0 }",
		when(`not p`) + "\np if count(input.verify) > 2",
		when(`input.verify == "red"; not p`) + "\np if 1 / (input.round - 1) == 3",
		when(`p == 3`) + "\np := 3 if input.round > 0\np := 4 if input.round == 1",
		when(`f(input.round) == 1`) + "\nf(a) := 1 if a > 0\nf(a) := 2 if a == 1",
		when(`p.a == 3`) + "\np[k] := v if { some k in [\"a\"]; some v in [1, 3] }",
		when(`p[_] == 1`) + "\np contains 1 / a if some a in [1, 0]",
		when(`{"a": v | some v in [1, 3]}.a == 3`),
		"decision := " + x + " if input.round == 1\ndecision := " + x + " if 1 / (input.round - 1) > 3",
		"decision := " + x + " if 1 / (input.round - 1) > 3\ndecision := " + x + " if input.round == 1",
		"default decision := " + x + "\ndecision := " + y + " if input.round > 1",
		computed(`{"next_action": "stuck", "reason": "x", 1: 2}`),
	} {
		engines := onBothEngines(t, decision)
		for _, in := range []policies.Input{
			clean(),
			input(2, 3, policies.Red, nil),
			input(3, 3, policies.Absent, map[string]int{"fixer": 2}),
			input(1, 3, policies.Red, map[string]int{"fixer": 0, "stuck": 1}),
		} {
			want, wantErr := engines[0].Decide(t.Context(), in)
			got, err := engines[1].Decide(t.Context(), in)
			if got != want || fault.CodeOf(err) != fault.CodeOf(wantErr) {
				t.Errorf("%s\n%+v: compiled: %+v, %v; interpreted: %+v, %v", decision, in, got, err, want, wantErr)
			}
		}
	}
}

// What only one engine can do is refused by the other, not done otherwise.
func TestTheCompiledEngineRefusesWhatItCannotDo(t *testing.T) {
	dir := policyDir(t, goodMetadata+goodTables+`decision := {"next_action": "stuck", "reason": "x"} if {
	_late with input.round as 3
}

_late if input.round == 3
`)
	load(t, dir)
	_, err := policies.Loader{Engine: policies.EngineWasm}.Load(t.Context(), dir)
	wantCode(t, err, policies.CodeInvalid)
}
