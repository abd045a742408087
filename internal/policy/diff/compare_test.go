package diff_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/diff"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// A decision that changes for any input is in the difference, and no other is.
func TestDifferencesHoldForAnyInput(t *testing.T) {
	candidates := []*routing.Policy{
		small(t),
		small(t, "input.routes.fixer > 0", "input.routes.fixer > 0\n\tinput.stalled_rounds < 2"),
		small(t, `["stuck", "user", "fixer"]`, `["stuck", "fixer", "user"]`, `{"next_action": "user", "reason": "routed"}`, `{"next_action": "fixer", "reason": "routed"}`),
		small(t, "input.round >= input.max_rounds", "input.round > input.max_rounds", `"reason": "verify-red"`, `"reason": "build-broken"`),
		small(t, `} else := {"next_action": "fixer", "reason": "verify-red"} if {`, `} else := {"next_action": "commit", "reason": "no-findings"} if {`),
	}
	type key struct{ from, to, fromReason, toReason string }
	pairs := make(map[[2]int]map[key]bool)
	for i, from := range candidates {
		for j, to := range candidates[:i] {
			flips := make(map[key]bool)
			d := compare(t, from, to)
			for _, f := range slices.Concat(d.Decisions.Changed, d.Decisions.Reasons) {
				flips[key{f.From, f.To, f.FromReason, f.ToReason}] = true
			}
			pairs[[2]int{i, j}] = flips
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		in := anyInput(t)
		for pair, flips := range pairs {
			before, now := decide(t, candidates[pair[0]], in), decide(t, candidates[pair[1]], in)
			k := key{before.NextAction, now.NextAction, before.Reason, now.Reason}
			if before != now && !flips[k] {
				t.Fatalf("policies %v: %+v flips %+v, which is not in the difference", pair, in, k)
			}
		}
	})
}

// decide returns p's decision, or the error code if it has none.
func decide(t *rapid.T, p *routing.Policy, in routing.Input) routing.Decision {
	d, err := p.Decide(t.Context(), in)
	if err == nil {
		return d
	}
	code := errs.CodeOf(err)
	if code == errs.PolicyInvalidInput {
		t.Fatalf("%+v: %v", in, err)
	}
	return routing.Decision{NextAction: routing.Undecided, Reason: string(code)}
}

// anyInput draws a consistent input for the small policy.
func anyInput(t *rapid.T) routing.Input {
	few := rapid.IntRange(0, 5)
	in := routing.Input{
		Round:     rapid.IntRange(1, 12).Draw(t, "round"),
		MaxRounds: rapid.IntRange(1, 10).Draw(t, "max_rounds"),
		Verify:    rapid.SampledFrom([]routing.Verify{routing.Green, routing.Red, routing.Absent}).Draw(t, "verify"),
		Routes:    make(map[string]int),
	}
	for _, name := range []string{"stuck", "user", "fixer"} {
		if n := few.Draw(t, name); n > 0 {
			in.Routes[name] = n
			in.FindingCount += n
		}
	}
	in.RepeatCount = rapid.IntRange(0, in.FindingCount).Draw(t, "repeat_count")
	in.ReopenedCount = rapid.IntRange(0, in.FindingCount-in.RepeatCount).Draw(t, "reopened_count")
	in.NewCount = in.FindingCount - in.RepeatCount - in.ReopenedCount
	in.ResolvedCount = rapid.IntRange(0, 2).Draw(t, "resolved_count")
	if in.FindingCount > 0 && in.RepeatCount == in.FindingCount && in.ResolvedCount == 0 {
		in.NoProgress = true
		in.StalledRounds = rapid.IntRange(1, 5).Draw(t, "stalled_rounds")
	}
	return in
}

// The reverse comparison has the same classes with from and to swapped, and every example
// shows its change.
func TestTheWayBackIsTheSameWay(t *testing.T) {
	from := small(t)
	to := small(t, "input.routes.fixer > 0", "input.routes.fixer > 0\n\tinput.stalled_rounds < 2", "input.round >= input.max_rounds", "input.round > input.max_rounds")
	there, back := compare(t, from, to), compare(t, to, from)
	if len(there.Decisions.Changed) == 0 || len(there.Decisions.Changed) != len(back.Decisions.Changed) || there.Decisions.States != back.Decisions.States {
		t.Fatalf("%+v and back %+v", there.Decisions, back.Decisions)
	}
	flipped := 0
	for _, f := range there.Decisions.Changed {
		flipped += f.Cells
		before, err := from.Decide(t.Context(), f.Example)
		if err != nil || before != (routing.Decision{NextAction: f.From, Reason: f.FromReason}) {
			t.Errorf("before, %+v is decided %+v, %v", f, before, err)
		}
		now := routing.Decision{NextAction: routing.Undecided, Reason: string(errs.PolicyUndefined)}
		if f.To != routing.Undecided {
			if now, err = to.Decide(t.Context(), f.Example); err != nil {
				t.Errorf("now, %+v: %v", f, err)
			}
		}
		if now != (routing.Decision{NextAction: f.To, Reason: f.ToReason}) {
			t.Errorf("now, %+v is decided %+v", f, now)
		}
		if !slices.ContainsFunc(back.Decisions.Changed, func(b diff.DecisionChange) bool {
			return b.From == f.To && b.To == f.From && b.FromReason == f.ToReason && b.ToReason == f.FromReason &&
				b.Cells == f.Cells && sameInput(b.Example, f.Example)
		}) {
			t.Errorf("%+v has no counterpart in %+v", f, back.Decisions.Changed)
		}
	}
	all := 0
	for _, m := range there.Decisions.Matrix {
		all += m.Cells
		if m.From != m.To {
			flipped -= m.Cells
		}
	}
	if all != there.Decisions.States || flipped != 0 {
		t.Errorf("the matrix %v does not add up to %d states and the flips %v", there.Decisions.Matrix, there.Decisions.States, there.Decisions.Changed)
	}
}

func TestDifferencesAreDeterministic(t *testing.T) {
	to := small(t, `"typo": "fixer",`, `"typo": "user", "a": "fixer", "b": "user",`, "input.round >= input.max_rounds", "input.round > input.max_rounds")
	first := compare(t, small(t), to)
	for range 5 {
		if again := compare(t, small(t), to); again.Markdown() != first.Markdown() || again.Digest() != first.Digest() {
			t.Fatalf("Markdown or digest changed from run to run:\n%s\n%s", first.Markdown(), again.Markdown())
		}
	}
}

// The complete text of a decision record.
func TestMarkdown(t *testing.T) {
	d := compare(t, small(t), small(t, "version: 1.0.0", "version: 2.0.0",
		`"question": "user",`, `"question": "fixer", "style": "fixer",`,
		"\t\"typo\": \"fixer\",\n", "",
		`"user": {"kind": "human", "advances_round": true}`, `"user": {"kind": "human", "advances_round": false}`,
		`["stuck", "user", "fixer"]`, `["stuck", "fixer", "user"]`,
		`{"next_action": "fixer", "reason": "verify-red"}`, `{"next_action": "user", "reason": "verify-red"}`,
		`{"next_action": "commit", "reason": "no-findings"}`, `{"next_action": "commit", "reason": "clean"}`,
	))
	want := strings.ReplaceAll(`From 'small@1.0.0' to 'small@2.0.0':

| Category | Before | Now |
|---|---|---|
| 'style' | unknown, so 'stuck' | 'fixer' |
| 'typo' | 'fixer' | unknown, so 'stuck' |
| 'question' | 'user' | 'fixer' |

| Destination | Before | Now |
|---|---|---|
| 'user' | human, begins a round | human, keeps the round |

| Precedence | Strongest first |
|---|---|
| Before | 'stuck' > 'user' > 'fixer' |
| Now | 'stuck' > 'fixer' > 'user' |

Of STATES kinds of input, 2 go elsewhere than before, and 12 go where they went for another reason:

| Before | Now | Kinds | The smallest |
|---|---|---|---|
| 'fixer' ('verify-red') | 'user' ('verify-red') | 2 | round 1 of 2, no findings, verification red |
| 'commit' ('no-findings') | 'commit' ('clean') | 12 | round 1 of 1, no findings, verification green |
`, "'", "`")
	want = strings.NewReplacer("small@", "routing@", "STATES", states(d)).Replace(want)
	if got := d.Markdown(); got != want {
		t.Errorf("Markdown is\n%s\nwant\n%s", got, want)
	}
}

func states(d diff.Diff) string {
	n := 0
	for _, m := range d.Decisions.Matrix {
		n += m.Cells
	}
	return strconv.Itoa(n)
}

func TestMarkdownOfDestinations(t *testing.T) {
	user := []string{
		"\t\"user\": {\"kind\": \"human\", \"advances_round\": true},\n", "",
		"\t\"question\": \"user\",\n", "", `["stuck", "user", "fixer"]`, `["stuck", "fixer"]`,
		"} else := {\"next_action\": \"user\", \"reason\": \"routed\"} if {\n\tinput.routes.user > 0\n", "",
	}
	gone, come := compare(t, small(t), small(t, user...)), compare(t, small(t, user...), small(t))
	wantStep(t, gone, diff.Major, "category question is gone; destination user is gone; the precedence no longer ranks user")
	wantStep(t, come, diff.Minor, "category question is new; destination user is new; the precedence now ranks user")
	if want := "| `user` | human, begins a round | - |\n"; !strings.Contains(gone.Markdown(), want) {
		t.Errorf("Markdown lacks %q:\n%s", want, gone.Markdown())
	}
	if want := "| `user` | - | human, begins a round |\n"; !strings.Contains(come.Markdown(), want) {
		t.Errorf("Markdown lacks %q:\n%s", want, come.Markdown())
	}
	if want := "1 category removed, 1 destination removed, 1 row removed from the precedence"; gone.Summary() != want {
		t.Errorf("summary is %q, want %q", gone.Summary(), want)
	}
}

// The example shows the cause of the change: here a reopened finding.
func TestExamplesSayWhatIsSpecialAboutThem(t *testing.T) {
	d := compare(t, small(t), small(t, `{"next_action": "fixer", "reason": "routed"} if {`,
		`{"next_action": "user", "reason": "came-back"} if {`+"\n\tinput.reopened_count > 0\n"+`} else := {"next_action": "fixer", "reason": "routed"} if {`))
	if want := "| round 1 of 2, 1 finding for fixer, verification green, 1 reopened |\n"; !strings.Contains(d.Markdown(), want) {
		t.Errorf("Markdown lacks %q:\n%s", want, d.Markdown())
	}
}

// A category can be any text and must not break the markup.
func TestCategoriesCannotForgeMarkdown(t *testing.T) {
	d := compare(t, small(t), small(t, `"typo": "fixer",`, `"typo": "fixer", "a|b": "fixer", "`+"`c`"+`": "fixer", "d\n| x | y | z |": "fixer", "\u202egnol": "fixer", "\ud800": "fixer",`))
	if len(d.Categories.Added) != 5 {
		t.Fatalf("added: %+v", d.Categories.Added)
	}
	for _, want := range []string{
		"| `\"a\\x7cb\"` | unknown, so `stuck` | `fixer` |\n",
		"| `\"\\x60c\\x60\"` | unknown, so `stuck` | `fixer` |\n",
		"| `\"d\\n\\x7c x \\x7c y \\x7c z \\x7c\"` | unknown, so `stuck` | `fixer` |\n",
		"| `\"\\u202egnol\"` | unknown, so `stuck` | `fixer` |\n",
		"| `\"\\ufffd\"` | unknown, so `stuck` | `fixer` |\n",
	} {
		if !strings.Contains(d.Markdown(), want) {
			t.Errorf("Markdown lacks %q:\n%s", want, d.Markdown())
		}
	}
	if _, because := d.Step(); strings.ContainsAny(strings.Join(because, ""), "\n`|") {
		t.Errorf("the step's reason is %q", because)
	}
}

// A policy that computes with its input cannot be divided into classes, so unknown
// changes may remain.
func TestWhatCannotBeBoundedIsSaid(t *testing.T) {
	odd := []string{"input.routes.fixer > 0", "input.routes.fixer % 2 == 1"}
	from, to := small(t, odd...), small(t, append(odd, "_work if input.finding_count > 0", "_work if  input.finding_count > 0")...)
	d := compare(t, from, to)
	if d.Empty() || len(d.Gaps) == 0 {
		t.Errorf("empty: %v, gaps: %+v", d.Empty(), d.Gaps)
	}
	wantStep(t, d, diff.Major, "the rules use the input in a way that cannot be bounded (routing.rego:30)")
	if got := d.Summary(); got != "no difference found, not all inputs could be compared" {
		t.Errorf("summary is %q", got)
	}
	if !strings.Contains(d.Markdown(), "cannot be bounded, in `routing.rego:30`") {
		t.Errorf("Markdown does not say so:\n%s", d.Markdown())
	}
	if strings.Contains(d.Markdown(), "Nothing changes") {
		t.Errorf("Markdown says too much:\n%s", d.Markdown())
	}
	if same := compare(t, from, small(t, odd...)); !same.Empty() {
		t.Errorf("one text differs from itself: %s", same.Summary())
	}
}

// A policy with too many classes cannot be compared.
func TestPoliciesWithTooManyClassesAreNotCompared(t *testing.T) {
	var odd strings.Builder
	for k := range 100 {
		for _, field := range []string{"new_count", "repeat_count", "reopened_count"} {
			fmt.Fprintf(&odd, "_work if input.%s == %d\n", field, 2*k+1)
		}
	}
	_, err := diff.Compare(t.Context(), small(t), build(t, smallSource+odd.String()))
	if errs.CodeOf(err) != errs.PolicyDomainTooLarge {
		t.Errorf("got %v", err)
	}
}

func TestCompareEndsWithItsContext(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := diff.Compare(cancelled, small(t), small(t))
	if errs.CodeOf(err) != errs.PolicyFailed || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	late, stop := context.WithTimeout(t.Context(), time.Nanosecond)
	defer stop()
	_, err = diff.Compare(late, small(t), small(t))
	if errs.CodeOf(err) != errs.PolicyTimeout || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// Whether a policy is too slow varies between runs, so it is not a difference.
func TestAPolicyThatRunsTooLongIsNotCompared(t *testing.T) {
	if testing.Short() {
		t.Skip("short: a decision takes a second to run over its time")
	}
	slow := small(t, "input.finding_count == 0\n}", "input.finding_count == 0\n"+
		"count([1 | some a in numbers.range(1, 9999); some b in numbers.range(1, 9999); some c in numbers.range(1, 9999); a + b + c == 0]) == 0\n}")
	_, err := diff.Compare(t.Context(), small(t), slow)
	if errs.CodeOf(err) != errs.PolicyTimeout {
		t.Errorf("got %v", err)
	}
}
