package regotest_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/regotest"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

const module = `package switchyard.routing

limit := 3

decision := "go" if {
	input.round < limit
} else := "stop" if {
	input.round > 100
}
`

// suite returns the module with a file of tests.
func suite(tests string) []routing.Source {
	return []routing.Source{
		{Name: "routing.rego", Text: module},
		{Name: "routing_test.rego", Text: "package switchyard.routing_test\n\nimport data.switchyard.routing\n\n" + tests},
	}
}

func run(t *testing.T, tests string) regotest.Report {
	t.Helper()
	r, err := regotest.Run(t.Context(), suite(tests))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const (
	testsGo   = "test_success_go if routing.decision == \"go\" with input as {\"round\": 2}\n"
	testsStop = "test_success_stop if routing.decision == \"stop\" with input as {\"round\": 101}\n"
	testsNone = "test_fail_none if not routing.decision with input as {\"round\": 50}\n"
)

func TestPassedWithFullCoverage(t *testing.T) {
	r := run(t, testsGo+testsStop+testsNone)
	if !r.Clean() || r.Passed != 3 || r.Failed+r.Skipped+r.Errored != 0 {
		t.Errorf("%+v", r)
	}
	// The constant, two heads and two expressions; the head of an else is on the last
	// line of the branch before it.
	want := regotest.Coverage{Lines: 5, Covered: 5, Percent: 100, Missing: []routing.Location{}}
	if !reflect.DeepEqual(r.Coverage, want) {
		t.Errorf("%+v", r.Coverage)
	}
	var names []string
	for _, test := range r.Tests {
		names = append(names, test.Name)
		if test.Package != "switchyard.routing_test" || test.Outcome != regotest.Passed || test.Location.File != "routing_test.rego" {
			t.Errorf("%+v", test)
		}
	}
	if want := []string{"test_success_go", "test_success_stop", "test_fail_none"}; !slices.Equal(names, want) {
		t.Errorf("tests are %v: not in the order of the file", names)
	}
	if p := r.Tests[1].Location; p.Row != 6 || p.Col != 1 || !strings.HasPrefix(p.Text, "test_success_stop if") {
		t.Errorf("%+v", p)
	}
}

func TestCoverageNamesTheLines(t *testing.T) {
	r := run(t, testsGo)
	want := regotest.Coverage{Lines: 5, Covered: 3, Percent: 60, Missing: []routing.Location{
		{File: "routing.rego", Row: 7, Col: 1, Text: `} else := "stop" if {`},
		{File: "routing.rego", Row: 8, Col: 1, Text: "input.round > 100"},
	}}
	if !reflect.DeepEqual(r.Coverage, want) {
		t.Errorf("%+v", r.Coverage)
	}
}

// TestFailedAt checks the line of the failed expression.
func TestFailedAt(t *testing.T) {
	r := run(t, testsGo+`
test_success_many if {
	failed := {round | some round in [1, 2, 7]; not routing.decision == "go" with input as {"round": round}}
	failed == set()
}

test_success_every if {
	every n in [1, 2, 3] {
		n < 3
	}
}
`)
	if r.Clean() || r.Passed != 1 || r.Failed != 2 {
		t.Fatalf("%+v", r)
	}
	many, every := r.Tests[1], r.Tests[2]
	want := routing.Location{File: "routing_test.rego", Row: 9, Col: 2, Text: "failed == set()"}
	if many.Outcome != regotest.Failed || many.FailedAt == nil || *many.FailedAt != want {
		t.Errorf("%+v, %+v", many, many.FailedAt)
	}
	want = routing.Location{File: "routing_test.rego", Row: 14, Col: 3, Text: "n < 3"}
	if every.FailedAt == nil || *every.FailedAt != want {
		t.Errorf("%+v, %+v", every, every.FailedAt)
	}
}

// TestFailedAtOfEveryKind checks that the line is found whatever the expression is.
func TestFailedAtOfEveryKind(t *testing.T) {
	for _, expression := range []string{
		"routing.limit == 4", "{1, 2, 3} == {n | some n in [2, 3, 4]}", "not routing.limit == 3", "routing.limit == data.switchyard.nowhere",
		`routing.decision == "stop" with input as {"round": 1}`,
	} {
		r := run(t, testsGo+"test_success_x if {\n\ttrue\n\t"+expression+"\n}\n")
		failed := r.Tests[1]
		if failed.Outcome != regotest.Failed || failed.FailedAt == nil || failed.FailedAt.Row != 8 || failed.FailedAt.Text != expression {
			t.Errorf("%s: %+v, %+v", expression, failed, failed.FailedAt)
		}
	}
}

func TestOutcomes(t *testing.T) {
	r := run(t, testsGo+`
todo_test_later if false

test_success_twice if true

test_success_twice if 1 == 2

test_success_prints if {
	print("round", 7)
	false
}

test_success_cases[name] if {
	some name, n in {"one": 1, "two": 2, "ten": 10}
	n < 3
}
`)
	if r.Passed != 2 || r.Failed != 3 || r.Skipped != 1 || r.Clean() {
		t.Fatalf("%+v", r)
	}
	if test := r.Tests[1]; test.Name != "todo_test_later" || test.Outcome != regotest.Skipped {
		t.Errorf("%+v", test)
	}
	if test := r.Tests[3]; test.Outcome != regotest.Failed || test.FailedAt == nil || test.FailedAt.Row != 11 {
		t.Errorf("%+v", test)
	}
	if test := r.Tests[4]; test.Output != "round 7" {
		t.Errorf("%+v", test)
	}
	if test := r.Tests[5]; !slices.Equal(test.Cases, []string{"ten"}) {
		t.Errorf("%+v", test)
	}
}

func TestNoTestsAreNotClean(t *testing.T) {
	r := run(t, "helper := routing.limit\n")
	if r.Clean() || len(r.Tests) != 0 || r.Coverage.Covered != 0 {
		t.Errorf("%+v", r)
	}
	if r, err := regotest.Run(t.Context(), nil); err != nil || r.Clean() {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestWhatIsInvalid(t *testing.T) {
	for name, files := range map[string][]routing.Source{
		"no Rego":         suite("test_x if {"),
		"not strict":      suite("test_x if { y := 1 }"),
		"unknown rule":    suite("test_x if nothing.at.all"),
		"the clock":       suite("test_x if time.now_ns() > 0"),
		"the network":     suite(`test_x if http.send({"method": "GET", "url": "http://localhost"}).status_code == 200`),
		"randomness":      suite(`test_x if rand.intn("x", 2) == 1`),
		"the environment": suite("test_x if opa.runtime().env.HOME"),
		"two conflicting": append(suite(testsGo), routing.Source{Name: "b.rego", Text: "package switchyard.routing\n\nlimit(x) := x\n"}),
		"a file twice":    append(suite(testsGo), routing.Source{Name: "routing.rego", Text: module}),
	} {
		_, err := regotest.Run(t.Context(), files)
		f, ok := errors.AsType[*errs.Error](err)
		if !ok || f.Code != errs.PolicyInvalid || strings.Contains(f.Message, "\n") {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if problems, ok := f.Details["problems"].([]routing.Problem); !ok || len(problems) == 0 || problems[0].Message == "" {
			t.Errorf("%s: %+v", name, f.Details)
		}
	}
}

// TestTestsThatDoNotEnd checks the caller's deadline, also within one long step.
func TestTestsThatDoNotEnd(t *testing.T) {
	endless := "test_x if routing.limit == count([n | some n in numbers.range(1, 100000); some m in numbers.range(1, 100000); n == m])\n"
	for name, c := range map[string]struct {
		ctx  func() (context.Context, context.CancelFunc)
		code errs.Code
	}{
		"deadline": {func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(t.Context(), 50*time.Millisecond)
		}, errs.PolicyTimeout},
		"cancelled": {func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			return ctx, cancel
		}, errs.PolicyFailed},
	} {
		ctx, cancel := c.ctx()
		defer cancel()
		_, err := regotest.Run(ctx, suite(endless))
		if errs.CodeOf(err) != c.code || !errors.Is(err, ctx.Err()) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOurOwnTests checks that the tests of the released versions pass and cover every
// line.
func TestOurOwnTests(t *testing.T) {
	dirs, err := filepath.Glob("../../../policies/routing/*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no versions: %v", err)
	}
	for _, dir := range dirs {
		var files []routing.Source
		for _, name := range []string{"routing.rego", "routing_test.rego"} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, routing.Source{Name: name, Text: string(text)})
		}
		r, err := regotest.Run(t.Context(), files)
		if err != nil || !r.Clean() || r.Coverage.Percent != 100 || r.Passed < 9 {
			t.Errorf("%s: %+v, %v", dir, r, err)
		}
	}
}
