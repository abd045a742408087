package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// TestConfinement checks what is said of a decision with these reports.
func TestConfinement(t *testing.T) {
	spawned := api.Report{Path: "r1.json", Run: "r1", Confinement: confinement.Files}
	refused := []string{"a.example:443", "b.example:80"}
	spawns := []api.SpawnSummary{{Run: "r1", Outcome: outcome.Clean, Confinement: confinement.Files, Refused: refused}}
	failed := []api.SpawnSummary{{Run: "r1", Outcome: outcome.CriticError, Confinement: confinement.Files, Refused: refused}}
	for _, c := range []struct {
		name                       string
		decision                   api.Decision
		round, status, explanation string
	}{
		{"no agent", api.Decision{Reports: []api.Report{{Path: "given.json"}}}, "", "", ""},
		{
			"an agent", api.Decision{Confinement: confinement.Files, Spawns: spawns, Reports: []api.Report{spawned}},
			"confinement: files\n", "  confinement files\n",
			"  the proxy refused to r1: a.example:443, b.example:80\n",
		},
		{
			"an agent that failed", api.Decision{Spawns: failed},
			"the proxy refused to r1: a.example:443, b.example:80\n", "", "the proxy refused to r1: a.example:443, b.example:80\n",
		},
		{
			"an agent and a given report", api.Decision{Confinement: confinement.None, Reports: []api.Report{spawned, {Path: "given.json"}}},
			"confinement: none, that of given.json\n", "  confinement none\n", "confinement: none, that of given.json\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := c.decision
			d.Event = &api.EventRef{N: 1}
			for what, shown := range map[string]struct {
				print func(*Printer)
				want  string
			}{
				"round": {func(p *Printer) { p.Decision(d) }, c.round},
				"status": {func(p *Printer) {
					p.status(api.TaskStatus{State: task.State{Last: &task.RoundDecided{Confinement: d.Confinement}}})
				}, c.status},
				"explanation": {func(p *Printer) { p.Explanation(api.Explanation{Decision: &d}) }, c.explanation},
			} {
				var out bytes.Buffer
				shown.print(&Printer{w: &out})
				said := strings.Contains(out.String(), "confinement") || strings.Contains(out.String(), "refused")
				if !strings.Contains(out.String(), shown.want) || said != (shown.want != "") {
					t.Errorf("%s: got\n%swant\n%s", what, out.String(), shown.want)
				}
			}
		})
	}
}
