package verbs

import (
	"context"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// TestRecode checks the codes of a lost race in each phase. Script tests cover the
// others.
func TestRecode(t *testing.T) {
	for phase, want := range map[string]errs.Code{
		"preflight":       errs.RoundShifted,
		"post-researcher": errs.RoundShifted,
		"post-executor":   "loop-post-executor-round-shifted",
		"post-critics":    "loop-post-critics-round-shifted",
		"commit":          errs.RoundShifted,
		"stuck":           errs.RoundShifted,
	} {
		p, err := Input{Flags: map[string]string{"phase": phase}}.Phase()
		if err != nil {
			t.Fatal(err)
		}
		got := Recode(task.ErrRoundShifted(1, 2).(*errs.Error).WithHint("another command's"), p.Codes)
		if errs.CodeOf(got) != want {
			t.Errorf("%s: got %s, want %s", phase, errs.CodeOf(got), want)
		}
		if details := got.(*errs.Error).Details; details["expected"] != 1 || details["actual"] != 2 {
			t.Errorf("%s: the details are lost: %v", phase, details)
		}
	}
	if err := Recode(context.Canceled); err != context.Canceled {
		t.Errorf("an error without a code became %v", err)
	}
}

// TestTaskID checks that ids accepted by the verbs are accepted everywhere.
func TestTaskID(t *testing.T) {
	verb := Verbs()[0]
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.OneOf(
			rapid.StringMatching(`[MST0-9-]{0,24}`),
			rapid.StringMatching(`M[0-9]{2,60}-S[0-9]{2,40}-T[0-9]{3,40}\n?`),
		).Draw(t, "id")
		err := verb.Check(Input{TaskID: id})
		if err == nil && task.CheckID(id) != nil {
			t.Fatalf("%q is accepted", id)
		}
		if err != nil && errs.CodeOf(err) != errs.LoopRunRoundInvalidTaskID {
			t.Fatalf("%q is refused with %v", id, err)
		}
	})
	for _, id := range []string{"M001-S001-T0001", "M1000-S0001-T12345"} {
		if err := verb.Check(Input{TaskID: id}); err != nil {
			t.Errorf("%s is refused: %v", id, err)
		}
	}
}

func TestInputValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`-{0,3}[a-z]{0,3}`)).Draw(t, "text")
		in := Input{Flags: map[string]string{"query": text}}
		wantGiven, want := true, text
		if strings.HasPrefix(text, "--") {
			wantGiven, want = false, ""
		}
		if in.Given("query") != wantGiven || in.Text("query") != want || in.Given("reason") {
			t.Fatalf("%q is read as %q, given %v", text, in.Text("query"), in.Given("query"))
		}
	})
}

func TestAuditRequest(t *testing.T) {
	for _, c := range []struct {
		flags map[string]string
		want  string // "" for an error
	}{
		{nil, "tool-use-log"},
		{map[string]string{"read": "true"}, "read"},
		{map[string]string{"read": "false", "search": "false"}, "search"},
		{map[string]string{"read": "true", "search": "x"}, ""},
		{map[string]string{"tool-use-log": "[]", "search": "x"}, ""},
		{map[string]string{"tool-use-log": "[]", "read": "true"}, ""},
		{map[string]string{"search": " "}, ""},
		{map[string]string{"search": "--read"}, ""},
	} {
		if got, err := (Input{Flags: c.flags}).AuditRequest(); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%v: %q, %v", c.flags, got, err)
		}
	}
}

func TestAfterPhase(t *testing.T) {
	both := []string{"design", "tests"}
	for _, c := range []struct {
		phase   task.Phase
		wanted  []string
		drafter string
		want    string
	}{
		{task.Research, both, task.AgentExecutor, "spawn-architect"},
		{task.Research, []string{"tests"}, task.AgentExecutor, "spawn-test-writer"},
		{task.Research, nil, task.AgentExecutor, "spawn-executor"},
		{task.Research, nil, task.AgentFixer, "spawn-build-fixer"},
		{task.Design, both, task.AgentExecutor, "spawn-test-writer"},
		{task.Design, []string{"design"}, task.AgentExecutor, "spawn-executor"},
		{task.Tests, both, task.AgentExecutor, "spawn-executor"},
		{task.Tests, both, task.AgentFixer, "spawn-build-fixer"},
		{task.Tests, both, "", "spawn-executor"}, // A person's draft.
	} {
		if got := afterPhase(c.phase, c.wanted, c.drafter); got != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
}
