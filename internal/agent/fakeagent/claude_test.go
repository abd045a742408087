package fakeagent_test

import (
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
)

// TestClaudeReportsItsUsageOnce checks that the usage is known before the end, however
// many messages there are, and that the result adds nothing to it.
func TestClaudeReportsItsUsageOnce(t *testing.T) {
	a, err := adapter.NewCatalog().Get("claude")
	if err != nil {
		t.Fatal(err)
	}
	for name, steps := range map[string][]fakeagent.Step{
		"one message": nil,
		"several":     {{Say: "I begin."}, {Tool: &fakeagent.Tool{Name: "Read"}}, {Say: "I go on."}},
	} {
		t.Run(name, func(t *testing.T) {
			scenario := fakeagent.Plays(append(steps, fakeagent.Step{Final: &fakeagent.Final{Text: new("It is done.")}})...)
			scenario.Usage = &fakeagent.Usage{In: 200, Out: 40, Cached: 50}
			stdout, _, _ := newStage(t, scenario).call(t, "--print", "--output-format", "stream-json")
			lines := strings.SplitAfter(stdout, "\n")
			r := a.NewReader()
			for i, line := range lines {
				if _, err := r.Write([]byte(line)); err != nil {
					t.Fatal(err)
				}
				want := int64(240)
				if i == 0 {
					want = 0 // It has only begun.
				}
				if p := r.Progress(); p.Tokens != want {
					t.Errorf("after %q: %d tokens", line, p.Tokens)
				}
			}
			if want := 4 + len(steps); len(lines) < want {
				t.Errorf("%d lines, want %d at least", len(lines), want)
			}
		})
	}
}
