package render

import (
	"cmp"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/api"
)

func (p *Printer) Health(h api.Health) {
	for _, c := range h.Checks {
		mark := p.Paint(Green, "ok")
		if !c.OK {
			mark = p.Paint(Red, "broken")
		}
		text := c.Text
		if c.Code != "" {
			text += " [" + string(c.Code) + "]"
		}
		p.Line("%s  %s: %s", mark, c.Name, text)
		for _, problem := range c.Problems {
			p.Line("  %s", problem)
		}
	}
	p.Line("")
	rows := make([][]cell, len(h.Adapters))
	for i, ad := range h.Adapters {
		state, color := "ok", Green
		switch {
		case !ad.OK && ad.Used:
			state, color = "broken", Red
		case !ad.OK:
			state, color = "unused", Dim
		case !ad.KnownVersion:
			state, color = "untested", Yellow
		}
		rows[i] = []cell{
			{ad.Name, Plain}, {state, color}, {cmp.Or(ad.Version, "-"), Plain}, {cmp.Or(strings.Join(ad.Tested, ", "), "-"), Dim},
			{cmp.Or(ad.Problem, ad.Binary), Plain},
		}
	}
	p.table([]string{"ADAPTER", "STATE", "VERSION", "TESTED", "PROGRAM"}, rows)
	p.Line("")
	rows = rows[:0]
	for _, ag := range h.Agents {
		kind := "agent"
		if ag.Module {
			kind = "module"
		}
		problem := cell{"", Plain}
		if ag.Problem != "" {
			problem = cell{ag.Problem, Yellow}
		}
		rows = append(rows, []cell{{ag.Name, Plain}, {kind, Plain}, {cmp.Or(ag.Path, "built in"), Dim}, problem})
	}
	p.table([]string{"AGENT", "KIND", "DEFINED IN", "PROBLEM"}, rows)
}
