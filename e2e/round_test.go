package e2e

import (
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
)

// config makes that adapter do all the work, within limits that suit a test.
func config(adapter string, more ...string) string {
	lines := append([]string{"spawn:", "  adapter: " + adapter, "  timeout: 5m", "  idle_timeout: 4m", "  model: " + models[adapter]}, more...)
	return strings.Join(lines, "\n") + "\n"
}

// models are the models for the CLIs. Codex must not know its model, or it offers other
// tools; opencode and copilot must.
var models = map[string]string{
	"claude": "claude-opus-4-8", "codex": "gpt-5.4", "copilot": "claude-sonnet-4.5", "gemini": "gemini-2.5-flash",
	"opencode": "anthropic/claude-sonnet-4-5",
}

var missingTest = fakeagent.Finding{Category: "missing-test", Severity: "fail", File: "a.go", Line: 1, Remediation: "Test the empty list"}

// TestRounds runs one round after the other: too many CLIs at once delay each other.
func TestRounds(t *testing.T) {
	r := newRig(t)
	r.build(t)
	t.Run("verdict", r.verdicts)
	t.Run("failure", r.failures)
	t.Run("death", r.deaths)
	t.Run("other", r.others)
}
