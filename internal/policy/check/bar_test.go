package check_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/check"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// barred returns the small policy with the bar and the rules of routing 1.3.0, and with
// texts replaced.
func barred(t *testing.T, oldnew ...string) *routing.Policy {
	t.Helper()
	source := shrunk(t, rego(t, "1.3.0"))
	return policy(t, replaced(t, source, append([]string{
		`{"next_action": "plan-checker", "reason": "churn"}`, `{"next_action": "askuser", "reason": "churn"}`,
		`not _strongest in {"askuser", "plan-checker"}`, `_strongest != "askuser"`,
	}, oldnew...)...))
}

const commits = `} else := {"next_action": "commit", "reason": "no-findings"} if {`

// refuses is a branch that sends clean reviews elsewhere if a condition holds.
func refuses(to, condition string) string {
	return `} else := {"next_action": "` + to + `", "reason": "unconfined"} if {
	input.finding_count == 0
	input.stalled_rounds == 0
	every n in input.routes { n == 0 }
	input.verify in {"green", "absent"}
	` + condition + "\n"
}

// A policy may refuse to commit below a confinement level.
func TestAPolicyThatNeedsConfinementPasses(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	for _, to := range []string{"stuck", "askuser"} {
		p := barred(t, commits, refuses(to, `input.confinement in {"none", "files", "files+ports"}`)+commits)
		r := verify(t, p, check.Options{Raised: raisedFor(p)})
		if got := broken(r); !r.Passes() || len(got) > 0 {
			t.Errorf("to %s: %v are broken", to, got)
		}
	}
}

func TestTheSmallPolicyWithABarPasses(t *testing.T) {
	p := barred(t)
	r := verify(t, p, check.Options{Raised: raisedFor(p)})
	if got := broken(r); !r.Passes() || len(got) > 0 {
		t.Errorf("%v are broken", got)
	}
	for _, i := range []check.Invariant{check.FailNeverDeferred, check.BarMonotone} {
		if result := resultOf(t, r, i); !result.Holds || result.Checked < 500 {
			t.Errorf("%+v", result)
		}
	}
}

// Without a bar nothing is said of it.
func TestTheInvariantsOfABarNeedOne(t *testing.T) {
	r := verify(t, mutated(t), check.Options{})
	for _, result := range r.Results {
		if result.Invariant == check.FailNeverDeferred || result.Invariant == check.BarMonotone {
			t.Errorf("%+v", result)
		}
	}
}

// Each mutation of the bar, or of what routing 1.3.0 decides on its facts, breaks one
// invariant.
func TestMutationsOfABar(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	const three = `bar := "fail" if {` + "\n\tinput.reviews_since_low >= 3\n}"
	for name, tc := range map[string]struct {
		mutation []string
		breaks   check.Invariant
		code     errs.Code
		message  string
	}{
		"it falls again": {
			[]string{"input.reviews_since_low >= 3", "input.reviews_since_low == 3"}, check.BarMonotone, "", "the bar falls",
		},
		"it is not defined for every input": {
			[]string{"\t_not_converging\n} else := \"all\"", "\t_not_converging\n}"}, check.FailNeverDeferred, errs.PolicyUndefined, "has no bar for the input",
		},
		"it is another word": {
			[]string{`} else := "all"`, `} else := concat("", ["no", "ne"])`}, check.FailNeverDeferred, errs.PolicyInvalidBar, "not a bar",
		},
		"two bars": {
			[]string{three, "bar := \"risk\" if input.reviews_since_low >= 4\n\n" + three}, check.FailNeverDeferred, errs.PolicyFailed, "",
		},
		"a branch that never applies": {
			[]string{"input.induced_rounds >= 2\n} else := \"risk\"", "input.reviews_since_low >= 4\n} else := \"risk\""}, check.NoShadowedRule, "", "",
		},
		"no class follows it": {
			[]string{"input.reviews_since_low >= 3", "input.reviews_since_low % 3 == 2"}, check.Classes, "", "",
		},
		"deferred findings lead past the cap": {
			[]string{"\tnot input.may_extend\n", "\tinput.deferred_count == 0\n"}, check.Ends, "", "goes on",
		},
		"a commit although something is open": {
			[]string{`{"next_action": "askuser", "reason": "churn"} if {` + "\n\tinput.induced_rounds >= 3", `{"next_action": "commit", "reason": "churn"} if {` + "\n\tinput.induced_rounds >= 3"},
			check.OnlyCleanCommits, errs.PolicyUnsafeCommit, "",
		},
		"a clean review waits, whatever confined its critic": {
			[]string{`{"next_action": "commit", "reason": "no-findings"}`, `{"next_action": "stuck", "reason": "no-findings"}`}, check.CleanCommits, "", "nothing is left to do",
		},
		"a clean review waits, also of a confined critic": {
			[]string{commits, refuses("stuck", `input.confinement != "files"`) + commits}, check.CleanCommits, "", "nothing is left to do",
		},
		"a clean review goes to an agent": {
			[]string{commits, refuses("executor", `input.confinement == "none"`) + commits}, check.CleanCommits, "", "nothing is left to do",
		},
		"no decision where findings are deferred": {
			[]string{"\tinput.finding_count == 0\n", "\tinput.finding_count == 0\n\tinput.deferred_count < 9\n"}, check.Total, errs.PolicyUndefined, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := verify(t, barred(t, tc.mutation...), check.Options{})
			got := broken(r)
			if !slices.Contains(got, tc.breaks) || r.Passes() {
				t.Fatalf("%v are broken, want %s", got, tc.breaks)
			}
			v := resultOf(t, r, tc.breaks).Violations[0]
			if !strings.Contains(v.Message, tc.message) || v.Code != tc.code {
				t.Errorf("%+v", v)
			}
			if tc.breaks == check.FailNeverDeferred && v.Location != nil { // No branch of decision causes it.
				t.Errorf("%+v", v.Location)
			}
		})
	}
}

// A policy that does not read the verification commits over a red one for some inputs,
// although others that it cannot tell apart are clean.
func TestWhatTheHostReadsIsNotShared(t *testing.T) {
	r := verify(t, policy(t, `# METADATA
# title: Blind
# description: It does not read the verification.
# custom:
#   version: 0.1.0
#   adr: ADR-0001
package switchyard.routing

destinations := {
	"commit": {"kind": "terminal", "advances_round": false},
	"executor": {"kind": "agent", "advances_round": true},
	"stuck": {"kind": "terminal", "advances_round": false},
}

route_table := {"style": "executor"}

precedence := ["stuck", "executor"]

decision := {"next_action": "stuck", "reason": "max-rounds"} if {
	input.routes.executor > 0
} else := {"next_action": "commit", "reason": "no-findings"}
`), check.Options{})
	result := resultOf(t, r, check.OnlyCleanCommits)
	if result.Violated == 0 {
		t.Errorf("%+v", result)
	}
	for _, v := range result.Violations {
		if v.Code != errs.PolicyUnsafeCommit || v.Input.Verify != routing.Red && v.Input.FindingCount == 0 {
			t.Errorf("%+v", v)
		}
	}
	if result := resultOf(t, r, check.CleanCommits); result.Violated > 0 {
		t.Errorf("%+v", result)
	}
}
