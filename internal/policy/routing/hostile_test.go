package routing_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
)

// The parts of a small valid policy. Tests replace one part each.
const (
	goodMetadata = `# METADATA
# title: Test
# custom:
#   version: 0.1.0
#   adr: ADR-9999
package switchyard.routing
`
	goodDestinations = `destinations := {
	"stuck": {"kind": "terminal", "advances_round": false},
	"commit": {"kind": "terminal", "advances_round": false},
	"fixer": {"kind": "agent", "advances_round": true},
}
`
	goodTable      = `route_table := {"style": "fixer"}` + "\n"
	goodPrecedence = `precedence := ["fixer"]` + "\n"
	goodDecision   = `decision := {"next_action": "fixer", "reason": "routed"}` + "\n"
	goodTables     = goodDestinations + goodTable + goodPrecedence
	goodPolicy     = goodMetadata + goodTables + goodDecision
)

func policyDir(t *testing.T, source string) string {
	t.Helper()
	return writeDir(t, map[string]string{"policy.rego": source})
}

func writeDir(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// deciding loads a policy with the given decision.
func deciding(t *testing.T, decision string) *routing.Policy {
	t.Helper()
	return load(t, policyDir(t, goodMetadata+goodTables+decision+"\n"))
}

func asFault(err error) *errs.Error {
	f, _ := errors.AsType[*errs.Error](err)
	return f
}

// problemsOf returns the problems of a policy-invalid error as text.
func problemsOf(t *testing.T, err error) string {
	t.Helper()
	problems, ok := asFault(err).Details["problems"].([]routing.Problem)
	if !ok || len(problems) == 0 {
		t.Fatalf("%v carries no problems", err)
	}
	var lines []string
	for _, p := range problems {
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n")
}

// The METADATA of a file that begins with a byte order mark is in another column.
func TestAByteOrderMarkIsNoFault(t *testing.T) {
	if got := load(t, policyDir(t, "\ufeff"+goodPolicy)).Identity(); got.Version != "0.1.0" {
		t.Errorf("identity is %+v", got)
	}
}

func TestASmallPolicyIsValid(t *testing.T) {
	p := load(t, policyDir(t, goodPolicy))
	if got := p.Identity(); got.Name != "routing" || got.Version != "0.1.0" || got.ADR != "ADR-9999" {
		t.Errorf("identity is %+v", got)
	}
	if got := p.Precedence(); len(got) != 2 || got[0] != routing.Stuck {
		t.Errorf("precedence is %v: stuck is missing in front", got)
	}
	got, err := p.Decide(t.Context(), clean())
	if want := (routing.Decision{NextAction: "fixer", Reason: "routed"}); err != nil || got != want {
		t.Errorf("Decide = %+v, %v", got, err)
	}
}

// computed returns a decision that is known only after evaluation.
func computed(value string) string { return "decision := _d\n\n_d := " + value }

// The host checks every decision against its own rules, whatever the policy and its
// engine. One policy makes all of these decisions, selected by resolved_count, because
// compiling takes longest.
func TestDecideRefusesWhatNoPolicyMayDecide(t *testing.T) {
	findings := input(1, 3, routing.Green, map[string]int{"fixer": 2})
	red := input(1, 3, routing.Red, nil)
	const commit = `{"next_action": "commit", "reason": "no-findings"}`
	cases := []struct {
		name, value, condition string
		in                     routing.Input
		want                   errs.Code
	}{
		{"undefined", `{"next_action": "stuck", "reason": "routed"}`, `input.round > 1`, clean(), errs.PolicyUndefined},
		{"conflict", `{"next_action": ["stuck", "fixer"][n], "reason": "a"}`, `some n in [0, 1]`, clean(), errs.PolicyFailed},
		{"built-in fails", `{"next_action": "stuck", "reason": sprintf("r%d", [1 / (input.round - 1)])}`, `true`, clean(), errs.PolicyFailed},
		{"built-in prints an address", `{"next_action": "stuck", "reason": "routed"}`, `sprintf("%p", [99999999999999999999]) != ""`, clean(), errs.PolicyFailed},
		{"undeclared", `{"next_action": "elsewhere", "reason": "routed"}`, `true`, clean(), errs.PolicyUndeclaredDestination},
		{"undeclared and long", `{"next_action": "` + strings.Repeat("e", 9<<10) + `", "reason": "routed"}`, `true`, clean(), errs.PolicyUndeclaredDestination},
		{"commit with findings", commit, `true`, findings, errs.PolicyUnsafeCommit},
		{"commit over red", commit, `true`, red, errs.PolicyUnsafeCommit},
		{"text", `_d`, `_d := "commit"`, clean(), errs.PolicyInvalidDecision},
		{"null", `_d`, `_d := null`, clean(), errs.PolicyInvalidDecision},
		{"set", `_d`, `_d := {"next_action", "reason"}`, clean(), errs.PolicyInvalidDecision},
		{"no reason", `_d`, `_d := {"next_action": "stuck"}`, clean(), errs.PolicyInvalidDecision},
		{"extra field", `_d`, `_d := {"next_action": "stuck", "reason": "a", "force": true}`, clean(), errs.PolicyInvalidDecision},
		{"wrong field", `_d`, `_d := {"next_action": "stuck", "because": "a"}`, clean(), errs.PolicyInvalidDecision},
		{"action is a list", `_d`, `_d := {"next_action": ["stuck"], "reason": "a"}`, clean(), errs.PolicyInvalidDecision},
		{"action is empty", `_d`, `_d := {"next_action": "", "reason": "a"}`, clean(), errs.PolicyInvalidDecision},
		{"reason is a number", `_d`, `_d := {"next_action": "stuck", "reason": 1}`, clean(), errs.PolicyInvalidDecision},
		{"reason is empty", `_d`, `_d := {"next_action": "stuck", "reason": ""}`, clean(), errs.PolicyInvalidDecision},
		{"reason is a sentence", `_d`, `_d := {"next_action": "stuck", "reason": "Not a name"}`, clean(), errs.PolicyInvalidDecision},
		{"reason begins with -", `_d`, `_d := {"next_action": "stuck", "reason": "-a"}`, clean(), errs.PolicyInvalidDecision},
		{"reason is long", `_d`, `_d := {"next_action": "stuck", "reason": "` + strings.Repeat("a", 65) + `"}`, clean(), errs.PolicyInvalidDecision},
		{"reason is very long", `_d`, `_d := {"next_action": "stuck", "reason": "` + strings.Repeat("a", 9<<10) + `"}`, clean(), errs.PolicyInvalidDecision},
	}
	var rules strings.Builder
	for i, tc := range cases {
		fmt.Fprintf(&rules, "decision := %s if {\n\tinput.resolved_count == %d\n\t%s\n}\n\n", tc.value, i, tc.condition)
	}
	engines := onBothEngines(t, rules.String())
	for i, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			tc.in.ResolvedCount = i
			for _, p := range engines {
				d, err := p.Decide(t.Context(), tc.in)
				f := wantCode(t, err, tc.want)
				if d != (routing.Decision{}) {
					t.Errorf("%s: a decision came with the error: %+v", p.Engine(), d)
				}
				if f.Details["policy"] != "routing@0.1.0" || f.Details["digest"] == "" || f.Details["input"] == nil {
					t.Errorf("%s: the details do not say which policy and input: %v", p.Engine(), f.Details)
				}
				if !errors.Is(err, &errs.Error{Code: tc.want}) {
					t.Errorf("%s: errors.Is does not find the code", p.Engine())
				}
				if details, _ := json.Marshal(f.Details); len(f.Message)+len(details) > 4<<10 {
					t.Errorf("%s: the error has %d bytes, and details of %d", p.Engine(), len(f.Message), len(details))
				}
			}
		})
	}
}

// Values grow until a built-in function fails, and no further, on both engines.
func TestDecideStopsAPolicyWhoseValuesGrow(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	long40 := `s := "` + strings.Repeat("x", 40<<10) + `"` + "\n\n"
	for name, c := range map[string]struct{ value, rules, want string }{
		"concat":           {`count(concat(s, [sprintf("%d", [i]) | some i in numbers.range(1, 20)]))`, long40, "concat: its result can have more than"},
		"concat of itself": {`count(concat("", [s, s]))`, long40, "concat: its arguments have more than"},
		"trim_prefix":      {`count([trim_prefix(s, "y") | some i in numbers.range(1, 60)])`, long40, "trim_prefix: together, the results"},
		"sprintf":          {`count(sprintf("%1000000d", [1]))`, "", "sprintf: its result can have"},
		"sprintf by *":     {`count(sprintf("%*d", [900000, 1]))`, "", "sprintf: its result can have"},
		"sprintf by index": {`count(sprintf("%[1]s%[1]s%[1]s%[1]s", [s]))`, long40, "sprintf: its result can have"},
		"numbers.range":    {`count(numbers.range(1, 1000000000000))`, "", "numbers.range: its result can have"},
		"a long number":    {`count(format_int(1e9000 * 1e9000, 2))`, "", "mul: its result has"},
		"json.marshal":     {`count(json.marshal(p9))`, doubling(20), "json.marshal: its arguments have"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, p := range onBothEngines(t, c.rules+`decision := {"next_action": "stuck", "reason": "x"} if `+c.value+" > 0") {
				_, err := p.Decide(t.Context(), clean())
				if p.Engine() == routing.EngineWasm && errs.CodeOf(err) == errs.PolicyTimeout {
					continue // Texts are copied to and from wasm memory as Rego text, which takes time.
				}
				if p.Engine() == routing.EngineWasm && errs.CodeOf(err) == errs.PolicyFailed && strings.Contains(err.Error(), "opa_malloc") {
					continue // The value filled the engine's memory before a built-in function got it.
				}
				if errs.CodeOf(err) != errs.PolicyFailed || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: got %v, want %s", p.Engine(), err, c.want)
				}
			}
		})
	}
}

// doubling returns rules p0 to p9, each with count elements of the previous one.
func doubling(count int) string {
	rules := "p0 := [1]\n\n"
	for i := range 9 {
		rules += fmt.Sprintf("p%d := [%s]\n\n", i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("p%d, ", i), count), ", "))
	}
	return rules
}

// An answer that is too large is rejected before it is written out.
func TestDecideRefusesALargeAnswer(t *testing.T) {
	_, err := deciding(t, doubling(20)+"decision := p9").Decide(t.Context(), clean())
	if wantCode(t, err, errs.PolicyFailed); !strings.Contains(err.Error(), "its answer has more than") {
		t.Error(err)
	}
}

// OPA repeats whole values in its errors.
func TestErrorsAreShort(t *testing.T) {
	for _, decision := range []string{
		`decision := {"next_action": "stuck", "reason": "x"} if to_number(concat("", ["1` + strings.Repeat("x", 50_000) + `"])) > 1`,
	} {
		for _, p := range onBothEngines(t, decision) {
			_, err := p.Decide(t.Context(), clean())
			if wantCode(t, err, errs.PolicyFailed); len(err.Error()) > 1000 || !strings.Contains(err.Error(), "bytes more)") {
				t.Errorf("%s: %d bytes: %.200s", p.Engine(), len(err.Error()), err)
			}
		}
	}
}

// Conflicting rules make no decision.
func TestDecideRefusesRulesThatDisagree(t *testing.T) {
	for _, p := range onBothEngines(t, `decision := {"next_action": "stuck", "reason": "a"} if input.round == 1

decision := {"next_action": "fixer", "reason": "a"} if input.max_rounds == 3`) {
		_, err := p.Decide(t.Context(), clean())
		wantCode(t, err, errs.PolicyFailed)
	}
}

func TestCommitIsAcceptedWhereItIsSafe(t *testing.T) {
	p := deciding(t, `decision := {"next_action": "commit", "reason": "no-findings"}`)
	for _, verify := range []routing.Verify{routing.Green, routing.Absent} {
		if _, err := p.Decide(t.Context(), input(1, 3, verify, nil)); err != nil {
			t.Errorf("verify %s: %v", verify, err)
		}
	}
}

// endless would take years.
const endless = `decision := {"next_action": "stuck", "reason": "routed"} if {
	count([1 | some a in numbers.range(1, 9999); some b in numbers.range(1, 9999); some c in numbers.range(1, 9999)
		a + b + c == 0]) == 0
}`

func TestDecideStopsAPolicyThatRunsTooLong(t *testing.T) {
	for _, p := range onBothEngines(t, endless) {
		t.Run(string(p.Engine()), func(t *testing.T) {
			defer waitForGoroutines(t, runtime.NumGoroutine())

			t.Run("at its own limit", func(t *testing.T) {
				_, err := p.Decide(t.Context(), clean())
				wantCode(t, err, errs.PolicyTimeout)
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%v does not say that a deadline passed", err)
				}
			})
			t.Run("at the caller's deadline", func(t *testing.T) {
				ctx, stop := context.WithTimeout(t.Context(), 5*time.Millisecond)
				defer stop()
				_, err := p.Decide(ctx, clean())
				wantCode(t, err, errs.PolicyTimeout)
			})
			t.Run("when the caller gives up", func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				time.AfterFunc(5*time.Millisecond, stop)
				_, err := p.Decide(ctx, clean())
				wantCode(t, err, errs.PolicyFailed)
				if !errors.Is(err, context.Canceled) {
					t.Errorf("%v does not say that it was cancelled", err)
				}
			})
		})
	}
}

// waitForGoroutines waits until there are no more than before: an evaluation must not go on in
// the background and use up a long-lived process. On a busy machine it ends a moment after
// Decide. Goleak cannot read a stack as deep as that of an evaluation.
func waitForGoroutines(t *testing.T, before int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, and there were %d", runtime.NumGoroutine(), before)
		}
	}
}

func TestDecideDoesNotBeginWhenItIsTooLate(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err := load(t, policies.Default).Decide(ctx, clean())
	wantCode(t, err, errs.PolicyFailed)
}

// A policy that breaks the contract does not load; the error says why and where.
func TestLoadRefusesWhatBreaksTheContract(t *testing.T) {
	without := func(part string) string { return strings.Replace(goodPolicy, part, "", 1) }
	with := func(part, instead string) string { return strings.Replace(goodPolicy, part, instead+"\n", 1) }
	for _, tc := range []struct{ name, source, want string }{
		{"empty", "", "empty module"},
		{"syntax", goodPolicy + "decision := {\n", "policy.rego:16:"},
		{"Rego v0", goodPolicy + "p { true }\n", "`if` keyword is required"},
		{"undefined function", goodPolicy + "p := nope(1)\n", "policy.rego:15:6: undefined function nope"},
		{"unsafe variable", goodPolicy + "p := x\n", "var x is unsafe"},
		{"strict: unused import", goodPolicy + "import data.other\n", "unused"},
		{"other package", with(goodMetadata, "package switchyard.other"), "no module declares package switchyard.routing"},

		{"no METADATA", with(goodMetadata, "package switchyard.routing"), "has no METADATA"},
		{"METADATA is not YAML", with("# title: Test", "# title: [\n"), "yaml"},
		{"no title", with("# title: Test\n", "# description: x"), "needs a title"},
		{"no version", without("#   version: 0.1.0\n"), "custom.version"},
		{"version with two parts", with("version: 0.1.0\n", `version: "1.0"`), "custom.version"},
		{"version is a number", with("version: 0.1.0\n", "version: 1.0"), "custom.version"},
		{"version with a v", with("version: 0.1.0\n", "version: v1.0.0"), "custom.version"},
		{"no adr", without("#   adr: ADR-9999\n"), "custom.adr"},
		{"adr is a sentence", with("ADR-9999\n", "see the wiki"), "custom.adr"},

		{"no destinations", without(goodDestinations), "no rule named destinations"},
		{"no route_table", without(goodTable), "no rule named route_table"},
		{"no precedence", without(goodPrecedence), "no rule named precedence"},
		{"no decision", without(goodDecision), "no rule named decision"},
		{"decision is a function", with(goodDecision, `decision(x) := x`), "not a function"},

		{"destinations is a list", with(goodDestinations, `destinations := ["stuck", "commit"]`), "destinations must be an object"},
		{"unknown kind", with(`"kind": "agent"`, `"kind": "robot"`), `destination "fixer" must be`},
		{"missing kind", with(`"kind": "agent", `, ""), `destination "fixer" must be`},
		{"misspelt field", with(`"agent", "advances_round"`, `"agent", "advance_round"`), `destination "fixer" must be`},
		{"advances_round is text", with(`"advances_round": true`, `"advances_round": "yes"`), `destination "fixer" must be`},
		{"terminal that advances", with(`"agent", "advances_round"`, `"terminal", "advances_round"`), "cannot advance the round"},
		{"name with a space", strings.ReplaceAll(goodPolicy, `"fixer"`, `"the fixer"`), `destination "the fixer": a name is`},
		{"name is a number", with(`"fixer": {`, "1: {"), "destination 1: a name is"},
		{"stuck missing", with(`"stuck": {`, `"stock": {`), `must declare "stuck" as terminal`},
		{"commit is an agent", with(`"commit": {"kind": "terminal"`, `"commit": {"kind": "agent"`), `must declare "commit" as terminal`},

		{"precedence is a set", with(goodPrecedence, `precedence := {"fixer"}`), "precedence is static"},
		{"precedence is an object", with(goodPrecedence, `precedence := {"fixer": 1}`), "precedence must be an array"},
		{"precedence undeclared", with(goodPrecedence, `precedence := ["fixer", "ghost"]`), `precedence names "ghost"`},
		{"precedence twice", with(goodPrecedence, `precedence := ["fixer", "fixer"]`), "twice"},
		{"precedence has commit", with(goodPrecedence, `precedence := ["fixer", "commit"]`), "no finding may be sent to"},
		{"precedence has a number", with(goodPrecedence, `precedence := ["fixer", 1]`), "must be the name of a destination"},

		{"route undeclared", with(goodTable, `route_table := {"style": "ghost"}`), `route_table names "ghost"`},
		{"route to commit", with(goodTable, `route_table := {"style": "commit"}`), "no finding may be sent to"},
		{"route without a rank", with(goodPrecedence, `precedence := ["stuck"]`), "precedence does not list"},
		{"reason is long", with(goodDecision, `decision := {"next_action": "fixer", "reason": "`+strings.Repeat("a", 9<<10)+`"}`), "up to 64 lower-case letters"},
		{"empty category", with(goodTable, `route_table := {"": "fixer"}`), "a string that is not empty"},
		{"route to two", with(goodTable, `route_table := {"style": ["fixer", "stuck"]}`), "must be the name of a destination"},

		{"computed by a comprehension", with(goodTable, `route_table := {c: "fixer" | some c in ["style"]}`), "route_table is static"},
		{"computed by a call", with(goodTable, `route_table := object.union({}, {"style": "fixer"})`), "route_table is static"},
		{"computed by a reference", with(goodTable, `route_table := input.table`), "route_table is static"},
		{"computed inside", with(goodTable, `route_table := {"style": input.to}`), "route_table is static"},
		{"conditional", with(goodTable, `route_table := {"style": "fixer"} if input.round > 1`), "route_table is static"},
		{"with else", with(goodTable, `route_table := {"style": "fixer"} if { true } else := {}`), "route_table is static"},
		{"default", with(goodTable, `default route_table := {"style": "fixer"}`), "route_table is static"},
		{"built up", with(goodTable, `route_table["style"] := "fixer"`), "route_table is static"},
		{"function", with(goodTable, `route_table(_) := {"style": "fixer"}`), "route_table is static"},
		{"twice", goodPolicy + goodTable, "exactly once"},
		{"a category twice", with(goodTable, "route_table := {\n\t\"style\": \"stuck\",\n\t\"lint\": \"fixer\",\n\t\"style\": \"fixer\",\n}\n"), `"style" is there twice`},
		{"a destination twice", with(`"stuck": {`, `"stuck": {"kind": "human", "advances_round": true}, "stuck": {`), `"stuck" is there twice`},
		{"a field twice", with(`"kind": "agent"`, `"kind": "human", "kind": "agent"`), `"kind" is there twice`},
		{"a next action twice", with(goodDecision, `decision := {"next_action": "fixer", "reason": "x", "next_action": "stuck"}`), `"next_action" is there twice`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := policies.Load(t.Context(), policyDir(t, tc.source))
			wantCode(t, err, errs.PolicyInvalid)
			if got := problemsOf(t, err); !strings.Contains(got, tc.want) || len(got) > 4<<10 {
				t.Errorf("problems do not mention %q, or have too many bytes, %d:\n%.4096s", tc.want, len(got), got)
			}
		})
	}
}

// A destination must not be mistaken for a word that the host uses in its place.
func TestLoadRefusesDestinationsWithTheNamesOfTheHost(t *testing.T) {
	for _, name := range []string{
		routing.Undecided, api.GatePassed, api.GateNotReviewed, api.GateRefused,
		api.ActionParked, api.ActionFailed, api.ActionBlocked, api.ActionManualFallback, string(task.RoleCritic), string(task.RoleOther),
	} {
		_, err := policies.Load(t.Context(), policyDir(t, strings.ReplaceAll(goodPolicy, `"fixer"`, `"`+name+`"`)))
		wantCode(t, err, errs.PolicyInvalid)
		if got, want := problemsOf(t, err), `destination "`+name+`": the host uses this name`; !strings.Contains(got, want) {
			t.Errorf("problems do not mention %q:\n%s", want, got)
		}
	}
}

func TestLoadReportsEveryProblemAtOnce(t *testing.T) {
	_, err := policies.Load(t.Context(), policyDir(t, "package switchyard.routing\n\nprecedence := 1\n"))
	f := wantCode(t, err, errs.PolicyInvalid)
	got := problemsOf(t, err)
	for _, want := range []string{"METADATA", "destinations", ":3:1: precedence", "route_table", "decision"} {
		if !strings.Contains(got, want) {
			t.Errorf("problems do not mention %s:\n%s", want, got)
		}
	}
	if !strings.Contains(f.Message, "(and 4 more)") {
		t.Errorf("the message hides that there is more: %q", f.Message)
	}
}

// call returns an expression that calls a built-in with arguments unknown to the
// compiler.
func call(b *ast.Builtin) string {
	args := make([]string, len(b.Decl.FuncArgs().Args))
	for i := range args {
		args[i] = "input.verify"
	}
	return b.Name + "(" + strings.Join(args, ", ") + ")"
}

// Every built-in is either disallowed or usable, however a policy names it.
func TestPoliciesCanOnlyCallWhatIsPureAndBounded(t *testing.T) {
	disallowed := map[string]bool{
		"http.send": true, "net.lookup_ip_addr": true, "opa.runtime": true, "rand.intn": true, "time.now_ns": true,
		"uuid.rfc4122": true, "json.match_schema": true, "json.verify_schema": true,
		"time.add_date": true, "time.clock": true, "time.date": true, "time.diff": true, "time.format": true, "time.parse_ns": true, "time.weekday": true,
		"io.jwt.encode_sign": true, "io.jwt.encode_sign_raw": true, "io.jwt.decode_verify": true,
		"crypto.x509.parse_and_verify_certificates":              true,
		"crypto.x509.parse_and_verify_certificates_with_options": true,
		"bits.lsh": true, "graph.reachable_paths": true, "json.marshal_with_options": true, "json.patch": true, "net.cidr_expand": true, "rego.parse_module": true,
		"glob.match": true, "glob.quote_meta": true, "regex.find_all_string_submatch_n": true, "regex.find_n": true, "regex.globs_match": true,
		"regex.is_valid": true, "regex.match": true, "regex.replace": true, "regex.split": true, "regex.template_match": true,
		"graphql.is_valid": true, "graphql.parse": true, "graphql.parse_and_verify": true, "graphql.parse_query": true, "graphql.parse_schema": true, "graphql.schema_is_valid": true,
		"replace": true, "strings.render_template": true, "strings.replace_n": true, "yaml.is_valid": true, "yaml.marshal": true, "yaml.unmarshal": true,
	}
	refused := 0
	for _, b := range ast.Builtins {
		if b.Infix != "" || strings.HasPrefix(b.Name, "internal.") || b.IsDeprecated() {
			continue
		}
		for _, expr := range []string{call(b), "count(input.verify) with count as " + b.Name} {
			_, err := policies.Load(t.Context(), policyDir(t, goodPolicy+"p if { "+expr+" }\n"))
			if disallowed[b.Name] {
				wantCode(t, err, errs.PolicyInvalid)
				if got := problemsOf(t, err); !strings.Contains(got, b.Name+" is not allowed in policies") {
					t.Errorf("%s is refused with %q", expr, got)
				}
				refused++
				continue
			}
			if err != nil { // a wrong type is fine, an unknown name is not
				for _, unheard := range []string{"undefined", "unsafe", "not allowed"} {
					if strings.Contains(err.Error(), unheard) {
						t.Errorf("%s: %v", expr, err)
					}
				}
			}
		}
	}
	if want := 2 * len(disallowed); refused != want {
		t.Errorf("%d uses were refused, want %d", refused, want)
	}
}

func TestAWithheldBuiltInIsExplained(t *testing.T) {
	_, err := policies.Load(t.Context(), policyDir(t, goodPolicy+`p := http.send({"method": "get", "url": "http://127.0.0.1/"})`+"\n"))
	wantCode(t, err, errs.PolicyInvalid)
	if got := problemsOf(t, err); !strings.Contains(got, "policy.rego:15:6: http.send is not allowed") {
		t.Error(got)
	}
}
