package routing_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/exhaustive"
	"github.com/switchyard-dev/switchyard/internal/policy/inputspace"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

var engines = []routing.Engine{routing.EngineRego, routing.EngineWasm}

// onBothEngines loads a policy with the given decision on each engine.
func onBothEngines(t *testing.T, decision string) []*routing.Policy {
	t.Helper()
	dir := policyDir(t, goodMetadata+goodTables+decision+"\n")
	loaded := make([]*routing.Policy, len(engines))
	for i, engine := range engines {
		loaded[i] = loadOn(t, engine, dir)
	}
	return loaded
}

func loadOn(t testing.TB, engine routing.Engine, ref string) *routing.Policy {
	t.Helper()
	p, err := routing.Loader{Released: policies.Files(), Engine: engine}.Load(t.Context(), ref)
	if err != nil {
		t.Fatalf("Load(%q) on %s: %v", ref, engine, err)
	}
	if p.Engine() != engine {
		t.Fatalf("loaded for %s, it is evaluated by %s", engine, p.Engine())
	}
	return p
}

func TestTheInterpreterIsTheDefault(t *testing.T) {
	if got := load(t, policies.Default).Engine(); got != routing.EngineRego {
		t.Errorf("the default engine is %q", got)
	}
}

func TestAnUnknownEngineIsRefused(t *testing.T) {
	for _, ref := range []string{policies.Default, policyDir(t, goodPolicy)} {
		_, err := routing.Loader{Engine: "jvm"}.Load(t.Context(), ref)
		wantCode(t, err, errs.PolicyInvalidInput)
	}
}

// Both engines make the same decision for every input class of every version.
func TestEnginesAgreeExhaustively(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: many cases, one after another")
	}
	for _, ref := range policies.Versions() {
		t.Run(ref, func(t *testing.T) {
			if ref != policies.Default {
				exhaustive.Require(t, "the newest version stands for all of them")
			}
			t.Parallel()
			interpreted, compiled := loadOn(t, routing.EngineRego, ref), loadOn(t, routing.EngineWasm, ref)
			classes, err := inputspace.Of(routing.DecisionRule, interpreted)
			if err != nil || len(classes.Gaps()) > 0 || classes.Len() < 2000 {
				t.Fatalf("the domain has %d classes and the gaps %v: %v", classes.Len(), classes.Gaps(), err)
			}
			for i := range classes.Len() {
				in := classes.At(i)
				want, wantErr := interpreted.Ask(t.Context(), routing.DecisionRule, in)
				got, err := compiled.Ask(t.Context(), routing.DecisionRule, in)
				if wantErr != nil || err != nil || got != want {
					t.Fatalf("%+v: compiled decides %+v, %v, interpreted %+v, %v", in, got, err, want, wantErr)
				}
			}
			if !interpreted.HasBar() {
				return
			}
			if classes, err = inputspace.Of(routing.BarRule, interpreted); err != nil || len(classes.Gaps()) > 0 || classes.Len() < 500 {
				t.Fatalf("the bar's domain has %d classes and the gaps %v: %v", classes.Len(), classes.Gaps(), err)
			}
			for i := range classes.Len() {
				in := classes.At(i)
				want, wantErr := interpreted.Bar(t.Context(), in)
				got, err := compiled.Bar(t.Context(), in)
				if wantErr != nil || err != nil || got != want {
					t.Fatalf("%+v: the compiled bar is %q, %v, the interpreted one %q, %v", in, got, err, want, wantErr)
				}
			}
		})
	}
}

// The two decisions of the policies below.
const decideX, decideY = `{"next_action": "stuck", "reason": "x"}`, `{"next_action": "fixer", "reason": "y"}`

// agree requires the same result from both engines: the decision or the error code.
func agree(t *testing.T, both []*routing.Policy, what string, resolved int) {
	t.Helper()
	for _, in := range []routing.Input{
		clean(),
		input(2, 3, routing.Red, nil),
		input(3, 3, routing.Absent, map[string]int{"fixer": 2}),
		input(1, 3, routing.Red, map[string]int{"fixer": 0, "stuck": 1}),
	} {
		in.ResolvedCount = resolved
		want, wantErr := both[0].Decide(t.Context(), in)
		got, err := both[1].Decide(t.Context(), in)
		if got != want || errs.CodeOf(err) != errs.CodeOf(wantErr) {
			t.Errorf("%s\n%+v: compiled: %+v, %v; interpreted: %+v, %v", what, in, got, err, want, wantErr)
		}
	}
}

// A condition that fails does so on both engines and for the same inputs. Engines could
// differ in each of these: make a failing built-in undefined, or count in floats.
func TestEnginesAgreeOnOddConditions(t *testing.T) {
	conditions := []string{
		`1 / (input.round - 1) > 3; input.verify == "red"`,
		`input.verify == "red"; 1 / (input.round - 1) > 3`,
		`false; 1 / 0 == 3`,
		`not 1 / 0 == 3`,
		`count([1 | some a in [3]; a == 1 / 0]) == 0`,
		`count(input.round) > 2`,
		`sum([input.verify]) > 2`,
		`"a" in input.verify`,
		`to_number("x") == 3`,
		`sprintf("%d", ["x"]) == "3"`,
		`json.unmarshal("{") == 3`,
		`time.parse_rfc3339_ns("x") > 1`,
		`units.parse("3q") == 1`,
		`max([]) == 1`,
		`bits.and(1, 1.5) == 1`,
		`array.concat(input.verify, [1]) == [1]`,
		`object.get(input, ["routes", "fixer"], 0) > 0`,
		`walk(input, [["verify"], v]); v == "green"`,
		`9007199254740993 > 9007199254740992`,
		`0.1 + 0.2 == 0.3`,
		`1e400 > 1e399`,
		`{1.0, 1} == {1}`,
		`"é" < "z"`,
		`concat("", ["\u0000\u0007\u000b\u001b", "\\x1b\u007f\""]) == "\u0000\u0007\u000b\u001b\\x1b\u007f\""`,
		`{concat("", ["\u001b", "a"]): 1}["\u001ba"] == 1`,
		`$"{input.round}" == "1"`,
		`print("x", input.round); input.round > 0`,
		`trace("x")`,
		`[a, b] = [1, input.round]; a == b`,
		`input.routes = {"fixer": n}; n > 0`,
		`count(input.routes) == 0`,
		`{"a": v | some v in [1, 3]}.a == 3`,
	}
	agreeOn(t, conditions)
}

// The interpreter evaluates every up to the first element that does not hold. Compiled rules
// go on, and can fail for another one.
func TestEnginesAgreeOnEvery(t *testing.T) {
	agreeOn(t, []string{
		`every a in [1, 0] { 1 / a > 0 }`,
		`every a in [1, 0] { 1 / a > 2 }`,
		`every a in [0, 1] { 1 / a > 2 }`,
		`every a in [1, 2] { 1 / a > 0 }`,
	})
}

func agreeOn(t *testing.T, conditions []string) {
	t.Helper()
	var rules strings.Builder // one policy for all, because compiling takes longest
	for i, condition := range conditions {
		fmt.Fprintf(&rules, "decision := %s if {\n\tinput.resolved_count == %d\n\t%s\n} else := %s if input.resolved_count == %[2]d\n\n",
			decideX, i, condition, decideY)
	}
	both := onBothEngines(t, rules.String())
	for i, condition := range conditions {
		agree(t, both, condition, i)
	}
}

// Rules that an engine could skip or leave early are evaluated if something in them
// fails.
func TestEnginesAgreeOnOddRules(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it compiles a dozen policies to WebAssembly")
	}
	when := func(condition string) string {
		return "decision := " + decideX + " if { " + condition + " } else := " + decideY + "\n\n"
	}
	for _, rules := range []string{
		when(`1 / (input.round - 1) > 3; input.verify == "red"`),
		when(`p`) + `p if { some a in [1, 0]; 1 / a > 0 }`,
		when(`p`) + `p if { some a in [0, 1]; 1 / a > 0 }`,
		when(`input.verify == "red"; not p`) + `p if 1 / (input.round - 1) == 3`,
		when(`p == 3`) + "p := 3 if input.round > 0\np := 4 if input.round == 1",
		when(`f(input.round) == 1`) + "f(a) := 1 if a > 0\nf(a) := 2 if a == 1",
		when(`p.a == 3`) + `p[k] := v if { some k in ["a"]; some v in [1, 3] }`,
		when(`p[_] == 1`) + `p contains 1 / a if some a in [1, 0]`,
		"decision := " + decideX + " if input.round == 1\ndecision := " + decideX + " if 1 / (input.round - 1) > 3",
		"decision := " + decideX + " if 1 / (input.round - 1) > 3\ndecision := " + decideX + " if input.round == 1",
		"default decision := " + decideX + "\ndecision := " + decideY + " if input.round > 1",
		computed(`{"next_action": "stuck", "reason": "x", 1: 2}`),
	} {
		agree(t, onBothEngines(t, rules), rules, 0)
	}
}

// An engine rejects features that only the other one supports.
func TestTheCompiledEngineRefusesWhatItCannotDo(t *testing.T) {
	dir := policyDir(t, goodMetadata+goodTables+`decision := {"next_action": "stuck", "reason": "x"} if {
	_late with input.round as 3
}

_late if input.round == 3
`)
	load(t, dir)
	_, err := routing.Loader{Engine: routing.EngineWasm}.Load(t.Context(), dir)
	wantCode(t, err, errs.PolicyInvalid)
}

// Unused policies are freed: no machine code and no goroutine remains.
func TestForgottenPoliciesAreFreed(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	before := machineCode(t)
	for range 5 {
		if _, err := loadOn(t, routing.EngineWasm, policies.Default).Decide(t.Context(), clean()); err != nil {
			t.Fatal(err)
		}
	}
	for machineCode(t) > before { // or the test hangs
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}

// machineCode counts the executable memory regions of this process that are not backed by
// a file.
func machineCode(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skip("this system does not tell what is mapped: ", err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 5 && strings.Contains(fields[1], "x") {
			n++
		}
	}
	return n
}
