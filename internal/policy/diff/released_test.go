package diff_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/policy/diff"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// ADR-0002: five more categories, and no other difference.
func TestTheEconomyCategories(t *testing.T) {
	d := compare(t, load(t, "routing@1.0.0"), load(t, "routing@1.1.0"))
	var want []diff.Route
	for _, category := range []string{"native-duplication", "over-engineering", "shrinkable", "skill-bar-unconsulted", "stdlib-reinvention"} {
		want = append(want, diff.Route{Category: category, Destination: "executor"})
	}
	if !slices.Equal(d.Categories.Added, want) {
		t.Errorf("added: %v, want %v", d.Categories.Added, want)
	}
	d.Categories.Added = nil
	wantTablesAlike(t, d)
	wantDecisionsAlike(t, d)
	d.Categories.Added = want

	wantStep(t, d, diff.Minor, "category native-duplication is new; category over-engineering is new; category shrinkable is new; and 2 more")
	if got, want := d.Summary(), "5 categories added"; got != want {
		t.Errorf("summary is %q, want %q", got, want)
	}
	head := `From ` + "`routing@1.0.0` to `routing@1.1.0`" + `:

| Category | Before | Now |
|---|---|---|
| ` + "`native-duplication` | unknown, so `stuck` | `executor` |\n"
	if !strings.HasPrefix(d.Markdown(), head) {
		t.Errorf("Markdown begins otherwise than %q:\n%s", head, d.Markdown())
	}
}

// ADR-0003: two reviews in a row without progress are stuck, unless the user is to be
// asked or a stronger rule decided before.
func TestTheBranchForStalledTasks(t *testing.T) {
	d := compare(t, load(t, "routing@1.1.0"), load(t, "routing@1.2.0"))
	wantTablesAlike(t, d)
	if len(d.Decisions.Reasons) != 0 {
		t.Errorf("reasons changed: %+v", d.Decisions.Reasons)
	}
	// Below the cap, with the named strongest destination and any of the weaker ones: for
	// each of 3 verification results, once stalled for 2 reviews and once for more.
	for i, want := range []struct {
		from  string
		cells int
	}{{"executor", 1 * 3 * 2}, {"plan-checker", 4 * 3 * 2}, {"researcher", 2 * 3 * 2}} {
		if len(d.Decisions.Changed) != 3 {
			t.Fatalf("%d flips, want 3: %+v", len(d.Decisions.Changed), d.Decisions.Changed)
		}
		f := d.Decisions.Changed[i]
		if f.From != want.from || f.FromReason != "routed" || f.To != "stuck" || f.ToReason != "no-progress" || !f.Stricter {
			t.Errorf("flip %d is %+v", i, f)
		}
		if f.Cells != want.cells {
			t.Errorf("%s flips in %d cells, want %d", f.From, f.Cells, want.cells)
		}
		smallest := routing.Input{
			Round: 1, MaxRounds: 2, FindingCount: 1, Routes: map[string]int{want.from: 1}, Verify: routing.Green,
			RepeatCount: 1, NoProgress: true, StalledRounds: 2,
		}
		if !sameInput(f.Example, smallest) {
			t.Errorf("the example is %+v, want %+v", f.Example, smallest)
		}
	}
	step, because := d.Step()
	if step != diff.Minor || !strings.Contains(strings.Join(because, "; "), "a task that went to executor (routed) goes to stuck (no-progress)") {
		t.Errorf("step is %s because %s", step, because)
	}
	if got, want := d.Summary(), "6 decisions from executor to stuck, 24 decisions from plan-checker to stuck, 12 decisions from researcher to stuck"; got != want {
		t.Errorf("summary is %q, want %q", got, want)
	}
	row := "| `plan-checker` (`routed`) | `stuck` (`no-progress`) | 24 | round 1 of 2, 1 finding for plan-checker, verification green, 2 reviews without progress |\n"
	if !strings.Contains(d.Markdown(), row) {
		t.Errorf("Markdown lacks %q:\n%s", row, d.Markdown())
	}
}

// A policy that reverts ADR-0003 lets tasks continue that were stopped.
func TestTheWayBackIsMajor(t *testing.T) {
	d := compare(t, load(t, "routing@1.2.0"), load(t, "routing@1.1.0"))
	if step, because := d.Step(); step != diff.Major || !strings.Contains(strings.Join(because, "; "), "a task that went to stuck (no-progress) goes to executor (routed)") {
		t.Errorf("step is %s because %s", step, because)
	}
}

func TestTheFirstVersion(t *testing.T) {
	p := load(t, "routing@1.0.0")
	d := compare(t, nil, p)
	if d.From != nil || d.To != p.Identity() || d.Empty() {
		t.Errorf("from %v to %v, empty: %v", d.From, d.To, d.Empty())
	}
	if len(d.Categories.Added) != 23 || len(d.Destinations.Added) != 6 || len(d.Categories.Removed)+len(d.Destinations.Removed) != 0 {
		t.Errorf("categories: %+v, destinations: %+v", d.Categories, d.Destinations)
	}
	if d.Precedence == nil || len(d.Precedence.From) != 0 || len(d.Precedence.To) != 5 || d.Precedence.Reordered {
		t.Errorf("precedence: %+v", d.Precedence)
	}
	if d.Decisions.States != 0 || d.Decisions.Digest != "" {
		t.Errorf("decisions: %+v", d.Decisions)
	}
	wantStep(t, d, diff.None, "it is the first version")
	if got, want := d.Summary(), "first version: 23 categories, 6 destinations"; got != want {
		t.Errorf("summary is %q, want %q", got, want)
	}
	for _, want := range []string{
		"`routing@1.0.0` is the first version.\n",
		"| `style` | - | `executor` |\n",
		"| `askuser` | - | human, begins a round |\n",
		"| Now | `stuck` > `askuser` > `plan-checker` > `researcher` > `executor` |\n",
	} {
		if !strings.Contains(d.Markdown(), want) {
			t.Errorf("Markdown lacks %q:\n%s", want, d.Markdown())
		}
	}
}

func wantTablesAlike(t *testing.T, d diff.Diff) {
	t.Helper()
	c, n := d.Categories, d.Destinations
	if len(c.Added)+len(c.Removed)+len(c.Rerouted)+len(n.Added)+len(n.Removed)+len(n.Changed) > 0 || d.Precedence != nil {
		t.Errorf("tables differ: %+v, %+v, %+v", c, n, d.Precedence)
	}
}

func wantDecisionsAlike(t *testing.T, d diff.Diff) {
	t.Helper()
	if d.Decisions.States == 0 || len(d.Decisions.Changed)+len(d.Decisions.Reasons) > 0 || d.Decisions.Digest != "" {
		t.Errorf("of %d states, decisions differ: %+v, %+v", d.Decisions.States, d.Decisions.Changed, d.Decisions.Reasons)
	}
}

// sameInput compares two inputs. A destination without findings may be missing.
func sameInput(a, b routing.Input) bool {
	for _, in := range []*routing.Input{&a, &b} {
		in.Routes = maps.Clone(in.Routes)
		maps.DeleteFunc(in.Routes, func(_ string, n int) bool { return n == 0 })
	}
	return reflect.DeepEqual(a, b)
}
