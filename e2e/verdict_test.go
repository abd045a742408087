package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
)

// verdicts tests the outcomes of agents that end.
func (r *rig) verdicts(t *testing.T) {
	r.needs(t, "claude")
	t.Run("two rounds", func(t *testing.T) {
		first := critic(missingTest)
		p := r.newProject(t, r.model.url("second", func(q request) reply {
			if fakeagent.ReadBrief(q.Text).Round == 1 {
				return first(q)
			}
			return critic()(q)
		}), config("claude"))
		p.round(t, "T-1").goes(t, "executor", "missing-test").ran(t, "critic claude findings")
		p.round(t, "T-1").goes(t, "commit").ran(t, "critic claude clean")
	})
	t.Run("research", func(t *testing.T) {
		lacks := critic(fakeagent.Finding{Category: "information-missing", Remediation: "Find out how webhooks are signed"})
		p := r.newProject(t, r.model.url("research", func(q request) reply {
			if fakeagent.ReadBrief(q.Text).ReportPath != "" {
				return lacks(q)
			}
			return researcher(q)
		}), config("claude"))
		d := p.round(t, "T-1")
		d.goes(t, "researcher", "information-missing").ran(t, "critic claude findings",
			"researcher claude ok", "researcher claude ok", "researcher claude ok")
		consensus, err := os.ReadFile(filepath.Join(p.dir, d.Research.Path))
		if err != nil || d.Research.K != 3 || len(d.Research.Silent) != 0 || !strings.Contains(string(consensus), "Check the signature of each call") {
			t.Errorf("research %+v, %v: %s", d.Research, err, consensus)
		}
	})
	t.Run("refused write", func(t *testing.T) {
		// It writes to a forbidden path, and reports success.
		p := r.newProject(t, r.model.url("refused", outside("report.json")), config("claude", "  retries: 0"))
		p.round(t, "T-1").goes(t, "stuck", "critic-error").ran(t, "critic claude critic-error denied")
	})
	t.Run("no report", func(t *testing.T) {
		p := r.newProject(t, r.model.url("none", unable), config("claude", "  retries: 0"))
		p.round(t, "T-1").goes(t, "stuck", "critic-error").ran(t, "critic claude critic-error envelope-error")
	})
}
