package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// others tests rounds with other CLIs than Claude Code, or with two. Whole tasks with each of
// them are in TestRun, and the model's errors in TestContractErrors.
func (r *rig) others(t *testing.T) {
	for name, lax := range laxities() {
		if name == "claude" {
			continue
		}
		t.Run(name+" writes in the project", func(t *testing.T) {
			r.needs(t, name)
			p := r.newProject(t, r.model.url(name+"-trespasser", trespasser), config(name, "  retries: 0", "  confine: off"))
			d := p.round(t, "T-1")
			switch {
			case lax.writesProject:
				d.goes(t, "stuck", "critic-error").ran(t, "critic "+name+" critic-error tree-changed", "critic "+name+" critic-error tree-changed")
				if err := os.Remove(filepath.Join(p.dir, "new.go")); err != nil {
					t.Error(err)
				}
			case lax.hidesDenials:
				// It has reported so, and has written its report nevertheless.
				d.goes(t, "commit").ran(t, "critic "+name+" clean")
			default:
				d.goes(t, "stuck", "critic-error").ran(t, "critic "+name+" critic-error denied")
			}
		})
	}
	t.Run("fallback", func(t *testing.T) {
		r.needs(t, "claude", "codex")
		good := critic(missingTest)
		p := r.newProject(t, r.model.url("fallback", func(q request) reply {
			if q.has("exec_command") {
				return good(q)
			}
			return reply{status: 529}
		}), config("claude", "  retries: 0", "  fallback_on_error: [codex]"))
		p.round(t, "T-1").goes(t, "executor", "missing-test").ran(t, "critic claude critic-error overloaded", "critic codex findings")
	})
}
