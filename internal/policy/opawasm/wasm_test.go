package opawasm_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/topdown"
	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/internal/policy/opawasm"
)

// TestMain fails if an evaluation or an instance outlives the tests.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// code compiles a module and the query for its rule p.
func code(t testing.TB, module string) []byte {
	t.Helper()
	result, err := rego.New(rego.Query("x := data.test.p"), rego.Module("test.rego", "package test\n\n"+module)).Compile(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return result.Bytes
}

func program(t testing.TB, module string) *opawasm.Program {
	t.Helper()
	p, err := opawasm.New(t.Context(), code(t, module), topdown.GetBuiltin, "")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// want evaluates p and compares its result, in Rego notation.
func want(t *testing.T, p *opawasm.Program, input, result string) {
	t.Helper()
	got, err := p.Eval(t.Context(), input)
	if err != nil {
		t.Fatalf("%s: %v", input, err)
	}
	if want := ast.MustParseTerm(result).Value; got.Compare(want) != 0 {
		t.Errorf("%s: got %v, want %v", input, got, want)
	}
}

func TestEvalReturnsTheResults(t *testing.T) {
	p := program(t, `p := {"n": input.n, "set": {1, 2}} if input.n > 1`)
	want(t, p, `{"n": 2}`, `{{"x": {"n": 2, "set": {1, 2}}}}`)
	want(t, p, `{"n": 1}`, `set()`)
	want(t, p, `{}`, `set()`)
	want(t, p, `{"n": "ä\u0000\"b"}`, `{{"x": {"n": "ä\u0000\"b", "set": {1, 2}}}}`)
}

// Built-ins that are not part of the policy are called in the host, with every supported
// number of arguments.
func TestBuiltInsAreCalledInTheHost(t *testing.T) {
	want(t, program(t, `p := time.weekday(0)`), `{}`, `{{"x": "Thursday"}}`)
	want(t, program(t, `p := strings.count("banana", "an")`), `{}`, `{{"x": 2}}`)
	want(t, program(t, `p := regex.replace("banana", "a(.)", "<$1>")`), `{}`, `{{"x": "b<n><n>a"}}`)
	want(t, program(t, `p := object.subset({1, {"a": {2}}}, {{"a": {2}}})`), `{}`, `{{"x": true}}`)
}

func TestAFailingBuiltInFailsTheEvaluation(t *testing.T) {
	p := program(t, `p if not q

q if time.parse_duration_ns(input.d) > 0`)
	want(t, p, `{"d": "0s"}`, `{{"x": true}}`)
	if _, err := p.Eval(t.Context(), `{"d": "soon"}`); err == nil || !strings.Contains(err.Error(), "time.parse_duration_ns") {
		t.Errorf("got %v", err)
	}
	want(t, p, `{"d": "0s"}`, `{{"x": true}}`) // and the next one is not affected
}

// A value that the policy cannot read is not taken for an undefined one.
func TestAnUnreadableValueFailsTheEvaluation(t *testing.T) {
	p := program(t, `p if not q

q if urlquery.decode(input.s) != ""`)
	want(t, p, `{"s": "a"}`, `set()`)
	if got, err := p.Eval(t.Context(), `{"s": "%ff"}`); err == nil {
		t.Errorf("got %v", got)
	}
}

func TestRulesThatDisagreeFailTheEvaluation(t *testing.T) {
	p := program(t, "p := 1 if input.n > 1\n\np := 2 if input.n > 2")
	want(t, p, `{"n": 2}`, `{{"x": 1}}`)
	if _, err := p.Eval(t.Context(), `{"n": 3}`); err == nil || !strings.Contains(err.Error(), "conflict") {
		t.Errorf("got %v", err)
	}
	want(t, p, `{"n": 2}`, `{{"x": 1}}`)
}

// A policy cannot use more memory than an instance has, and the next one has all of it
// again.
func TestMemoryIsBounded(t *testing.T) {
	p := program(t, `p := count([[a, b] | some a in numbers.range(1, input.n); some b in numbers.range(1, input.n)])`)
	want(t, p, `{"n": 10}`, `{{"x": 100}}`)
	if _, err := p.Eval(t.Context(), `{"n": 3000}`); err == nil {
		t.Errorf("got %v", err)
	}
	want(t, p, `{"n": 10}`, `{{"x": 100}}`)
	if _, err := p.Eval(t.Context(), `{"s": "`+strings.Repeat("x", 65<<20)+`"}`); err == nil {
		t.Error("an input that is larger than the memory is accepted")
	}
	want(t, p, `{"s": "`+strings.Repeat("x", 2<<20)+`", "n": 2}`, `{{"x": 4}}`)
}

// endless loops in the policy's code, in calls of built-ins, and in a built-in.
func endless() map[string]string {
	return map[string]string{
		"own code": `xs := [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]

p if { some a in xs; some b in xs; some c in xs; some d in xs; some e in xs; some f in xs; some g in xs; some h in xs; some i in xs
	[a, b, c, d, e, f, g, h, i] == [0, 0, 0, 0, 0, 0, 0, 0, 0] }`,
		"calls of built-ins": `xs := [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]

p if { some a in xs; some b in xs; some c in xs; some d in xs; some e in xs; some f in xs; some g in xs; some h in xs
	strings.count("a", "b") == ((((((a + b) + c) + d) + e) + f) + g) + h }`,
		"in a built-in": `p if count(net.cidr_expand("10.0.0.0/8")) == 3`,
	}
}

func TestEvalEndsWithItsContext(t *testing.T) {
	for name, module := range endless() {
		t.Run(name, func(t *testing.T) {
			p := program(t, module)
			for _, wait := range []time.Duration{0, time.Millisecond, 50 * time.Millisecond} {
				ctx, stop := context.WithTimeout(t.Context(), wait)
				_, err := p.Eval(ctx, `{}`)
				stop()
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("after %v: got %v", wait, err)
				}
			}
		})
	}
}

func TestEvalIsSafeForConcurrentUse(t *testing.T) {
	p := program(t, `p := sprintf("%d", [input.n])`)
	var wg sync.WaitGroup
	for n := range 16 {
		wg.Go(func() {
			for range 20 {
				want(t, p, fmt.Sprintf(`{"n": %d}`, n), fmt.Sprintf(`{{"x": "%d"}}`, n))
			}
		})
	}
	wg.Wait()
}

func TestNewRefusesWhatIsNoPolicy(t *testing.T) {
	good := code(t, `p := time.weekday(0)`)
	for name, bytes := range map[string][]byte{
		"nothing":   nil,
		"text":      []byte("package test"),
		"cut short": good[:len(good)/2],
		"empty":     []byte("\x00asm\x01\x00\x00\x00"),
	} {
		if _, err := opawasm.New(t.Context(), bytes, topdown.GetBuiltin, ""); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	none := func(string) topdown.BuiltinFunc { return nil }
	if _, err := opawasm.New(t.Context(), good, none, ""); err == nil || !strings.Contains(err.Error(), "time.weekday") {
		t.Errorf("a built-in that is not there: got %v", err)
	}
}
