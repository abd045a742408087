package e2e

import (
	"testing"
	"time"
)

// failures tests errors of the model, and Switchyard's limits.
func (r *rig) failures(t *testing.T) {
	r.needs(t, "claude")
	t.Run("rate limit that passes", func(t *testing.T) {
		// Claude Code tries twice, so its first attempt fails and our retry succeeds.
		p := r.newProject(t, r.model.url("limit", failsFirst(2, 429, critic())), config("claude"))
		p.round(t, "T-1").goes(t, "commit").ran(t, "critic claude critic-error rate-limit", "critic claude clean")
	})
	t.Run("rate limit that stays", func(t *testing.T) {
		p := r.newProject(t, r.model.url("limited", always(reply{status: 429})), config("claude", "  retries: 1"))
		p.round(t, "T-1").goes(t, "stuck", "critic-error").ran(t, "critic claude critic-error rate-limit", "critic claude critic-error rate-limit")
		if n := r.model.asked("limited"); n > 4 {
			t.Errorf("the model was asked %d times", n)
		}
	})
	t.Run("wrong key", func(t *testing.T) {
		p := r.newProject(t, r.model.url("key", always(reply{status: 401})), config("claude"))
		p.fails(t, "T-1", "spawn-auth")
	})
	t.Run("dropped connection", func(t *testing.T) {
		p := r.newProject(t, r.model.url("drop", always(reply{drop: true})), config("claude", "  retries: 0"))
		p.round(t, "T-1").goes(t, "stuck", "critic-error").ran(t, "critic claude critic-error overloaded")
	})
	t.Run("stall", func(t *testing.T) {
		p := r.newProject(t, r.model.url("stall", always(reply{stall: true})), "spawn: {adapter: claude, timeout: 40s, idle_timeout: 5s, retries: 0}\n")
		p.round(t, "T-1").goes(t, "stuck", "critic-error").ran(t, "critic claude critic-error idle")
	})
	t.Run("time limit", func(t *testing.T) {
		// It never ends: each answer is another use of a tool.
		p := r.newProject(t, r.model.url("busy", func(q request) reply {
			time.Sleep(200 * time.Millisecond)
			return reply{tool: "Read", input: map[string]any{"file_path": "a.go"}}
		}), "spawn: {adapter: claude, timeout: 30s, idle_timeout: 25s, retries: 0}\n")
		p.round(t, "T-1").goes(t, "stuck", "critic-error").ran(t, "critic claude critic-error timed-out")
	})
}
