package check_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/doccheck"
	"github.com/switchyard-dev/switchyard/internal/policy/check"
	"github.com/switchyard-dev/switchyard/internal/policy/inputspace"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

// TestPage checks the table of docs/proof.md against the invariants. UPDATE=1 rewrites
// it.
func TestPage(t *testing.T) {
	var table strings.Builder
	table.WriteString("| invariant | says | a record may waive it |\n|---|---|---|\n")
	for _, i := range check.Invariants() {
		waivable := "no"
		if i.Waivable() {
			waivable = "yes"
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", i, i.Says(), waivable)
	}
	doccheck.Table(t, "../../../docs", "proof.md", "invariants", table.String())
}

// The counterexample and the number of classes in docs/proof.md are real.
func TestPageShowsARealCounterexample(t *testing.T) {
	page, err := os.ReadFile("../../../docs/proof.md")
	if err != nil {
		t.Fatal(err)
	}
	r := verify(t, policy(t, replaced(t, rego(t, "1.2.0"), `input.round >= input.max_rounds`, `input.round > input.max_rounds`)), check.Options{})
	result := resultOf(t, r, check.Ends)
	v := result.Violations[0]
	newest := load(t, policies.Default)
	classes, err := inputspace.Of(routing.DecisionRule, newest)
	if err != nil {
		t.Fatal(err)
	}
	bars, err := inputspace.Of(routing.BarRule, newest)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		fmt.Sprintf("Versions 1.0.0 to 1.2.0 have %d:", r.States),
		fmt.Sprintf("Version %s has %d, since", newest.Identity().Version, classes.Len()),
		fmt.Sprintf("Its bar has %d:", bars.Len()),
		fmt.Sprintf("BROKEN  %s: %s\n  %d violations;", result.Invariant, result.Says, result.Violated),
		"  - " + v.Message + "\n",
		fmt.Sprintf("/routing.rego:%d:%d  %s\n", v.Location.Row, v.Location.Col, v.Location.Text),
		fmt.Sprintf("    gives %s (%s)\n", v.Decision.NextAction, v.Decision.Reason),
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page does not have %q", want)
		}
	}
}
