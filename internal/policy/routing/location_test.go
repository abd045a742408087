package routing_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

func TestRoutePlaceIsWhereTheTableHasTheCategory(t *testing.T) {
	for _, ref := range policies.Versions() {
		p := load(t, ref)
		seen := make(map[int]bool)
		for category, to := range p.RouteTable() {
			at, ok := p.RouteLocation(category)
			want := `"` + category + `": "` + to + `",`
			if !ok || at.File != ref+"/routing.rego" || at.Text != want || at.Col != 2 || seen[at.Row] {
				t.Errorf("%s: %s is at %+v, %t", ref, category, at, ok)
			}
			seen[at.Row] = true
		}
		if at, ok := p.RouteLocation("unheard-of"); ok || at != (routing.Location{}) {
			t.Errorf("%s: a place for a category that is not there: %+v", ref, at)
		}
	}
}

// firstProblem loads an invalid policy and returns its first problem.
func firstProblem(t *testing.T, source string) routing.Problem {
	t.Helper()
	_, err := policies.Load(t.Context(), policyDir(t, source))
	f := wantCode(t, err, errs.PolicyInvalid)
	problems, _ := f.Details["problems"].([]routing.Problem)
	if len(problems) == 0 {
		t.Fatalf("no problems: %v", err)
	}
	return problems[0]
}

// A problem shows its source line unchanged, and a column in characters that points into
// it.
func TestProblemsShowTheirLine(t *testing.T) {
	for _, tc := range []struct{ name, rule, source, at string }{
		{"a syntax error", "x := {\"a\": }", "x := {\"a\": }", "}"},
		{"behind tabs", "x if {\n\t\tinput.round > nope(1)\n}", "\t\tinput.round > nope(1)", "nope(1)"},
		{"behind characters of several bytes", `x := ["äöü€", nope(1)]`, `x := ["äöü€", nope(1)]`, "nope(1)"},
		{"a type error", "x if count(1) > 2", "x if count(1) > 2", "count(1) > 2"},
		{"an unsafe variable", "x if y > 2", "x if y > 2", "y > 2"},
		{"a table", "x := 1\n\nroute_table := {}", "route_table := {}", "route_table"},
		{"a misspelt field", "x if {\n\tinput.roud > 2\n}", "\tinput.roud > 2", "input.roud"},
		{"with a carriage return", "x := nope(1)\r", "x := nope(1)", "nope(1)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := firstProblem(t, goodPolicy+tc.rule+"\n")
			if p.Source != tc.source || filepath.Base(p.File) != "policy.rego" {
				t.Fatalf("problem is %+v, with the line %q", p, p.Source)
			}
			if got := string([]rune(p.Source)[p.Col-1:]); !strings.HasPrefix(got, tc.at) {
				t.Errorf("column %d points to %q, want %q", p.Col, got, tc.at)
			}
			if strings.Contains(p.Message, "\n") {
				t.Errorf("the message is not one line: %q", p.Message)
			}
		})
	}
}

func TestLongLinesAreClipped(t *testing.T) {
	near, far := "x := [nope(1), \""+strings.Repeat("é", 1000)+"\"]", "x := [\""+strings.Repeat("é", 1000)+"\", nope(1)]"
	if p := firstProblem(t, goodPolicy+near+"\n"); len(p.Source) < 200 || len(p.Source) > 256 || !strings.HasPrefix(near, p.Source) {
		t.Errorf("a problem at the beginning shows %q", p.Source)
	}
	if p := firstProblem(t, goodPolicy+far+"\n"); p.Source != "" || p.Col < 1000 {
		t.Errorf("a problem at column %d shows %q, where no caret fits", p.Col, p.Source)
	}
}

// Errors can be printed as JSON, whatever the file contains.
func TestProblemsCanBeWrittenAsJSON(t *testing.T) {
	for _, line := range []string{"x := \"\xff\" y", "x := \"\x00\"", "\x01\xff\xfe", "x := `\xc3` nope"} {
		p := firstProblem(t, goodPolicy+line+"\n")
		if _, err := json.Marshal(p); err != nil {
			t.Errorf("%q: %+v: %v", line, p, err)
		}
	}
}

func TestAFailedDecisionShowsTheLine(t *testing.T) {
	p := deciding(t, "decision := {\"next_action\": \"stuck\", \"reason\": \"a\"} if {\n\tto_number(input.verify) == 1\n}")
	_, err := p.Decide(t.Context(), clean())
	f := wantCode(t, err, errs.PolicyFailed)
	problems, _ := f.Details["problems"].([]routing.Problem)
	if len(problems) != 1 || problems[0].Row != 15 || problems[0].Source != "\tto_number(input.verify) == 1" {
		t.Errorf("problems are %+v", problems)
	}
}
