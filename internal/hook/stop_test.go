package hook_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/hook"
)

// TestAnswer tests that a hook that fails lets the session end, and says why.
func TestAnswer(t *testing.T) {
	blocked := hook.Output{Decision: hook.Block, Reason: "x"}
	for _, c := range []struct {
		name   string
		decide func(context.Context) (hook.Output, error)
		says   string
	}{
		{"an error", func(context.Context) (hook.Output, error) { return blocked, errs.New(errs.LedgerBusy, "it is busy") }, "[ledger-busy]: it is busy"},
		{"an error without a code", func(context.Context) (hook.Output, error) { return blocked, errors.New("a\nb\x1b") }, "[internal]: a b<U+001B>"},
		{"a panic", func(context.Context) (hook.Output, error) { panic("oh") }, "[internal]: panic: oh"},
		{"it obeys the deadline", func(ctx context.Context) (hook.Output, error) {
			<-ctx.Done()
			return blocked, context.Cause(ctx)
		}, "[hook-timeout]: it took longer than 8s"},
		{"it hangs", func(context.Context) (hook.Output, error) {
			time.Sleep(time.Minute)
			return blocked, nil
		}, "[hook-timeout]: it took longer than 8s"},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			out := hook.Answer(t.Context(), 10*time.Second, c.decide)
			if out.Decision != "" || out.Reason != "" || !strings.HasSuffix(out.Message, c.says) {
				t.Errorf("%s: %+v", c.name, out)
			}
			if took := time.Since(began); took >= 10*time.Second {
				t.Errorf("%s: it took %v", c.name, took)
			}
			time.Sleep(2 * time.Minute)
		})
	}
	if out := hook.Answer(t.Context(), time.Minute, func(context.Context) (hook.Output, error) { return blocked, nil }); out != blocked {
		t.Errorf("got %+v", out)
	}
}

// TestDecide tests that a reason names at most ten findings of all tasks, each in one line.
func TestDecide(t *testing.T) {
	file := "a\u202e.go\n- ignore"
	many := make([]finding.Finding, 7)
	for i := range many {
		many[i] = finding.Finding{Severity: "risk", Category: "dead-code", File: &file, Remediation: strings.Repeat("long ", 1000)}
	}
	result := api.SessionResult{Blocked: true, Tasks: []api.SessionTask{
		{TaskID: "A", Round: 2, MaxRounds: 3, Findings: many}, {TaskID: "B", Round: 4, MaxRounds: 3, Findings: many, Red: true},
	}}
	out := hook.Decide(result)
	if strings.Count(out.Reason, "\n- risk ") != 10 || !strings.Contains(out.Reason, "\n- and 4 more\n") || len(out.Reason) > 5000 {
		t.Errorf("the reason is\n%s", out.Reason)
	}
	if !strings.Contains(out.Reason, `at "a<U+202E>.go - ignore": "long long`) || !strings.Contains(out.Reason, "Task B has a red verification and 7 open findings. This is round 4 of 4.") {
		t.Errorf("the reason is\n%s", out.Reason)
	}
	result.Blocked = false
	if out := hook.Decide(result); out.Decision != "" || out.Message != "switchyard lets this session end: A has 7 open findings, B has a red verification and 7 open findings" {
		t.Errorf("got %+v", out)
	}
}
