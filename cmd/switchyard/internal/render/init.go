package render

import (
	"path/filepath"
	"strings"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/compat/nubospilot"
	"github.com/switchyard-dev/switchyard/internal/project"
)

// Initialized is the result of init.
type Initialized struct {
	// Folder is the project's root.
	Folder  string   `json:"folder"`
	Created []string `json:"created"`
	// Tasks are the imported tasks, and Left is what was not imported; both are nil
	// without --from.
	Tasks []host.TaskStatus `json:"tasks,omitzero"`
	Left  []nubospilot.Left `json:"left,omitzero"`
	// Adapters name the known agent CLIs that are installed.
	Adapters []string `json:"adapters"`
}

// Init prints the result of init.
func (p *Printer) Init(i Initialized) {
	if len(i.Created) == 0 {
		p.Line("nothing to create: %s is set up", i.Folder)
	}
	for _, file := range i.Created {
		p.Line("created %s", filepath.Join(i.Folder, filepath.FromSlash(file)))
	}
	for _, t := range i.Tasks {
		p.Line("took over %s: %s, round %s", t.TaskID, p.Paint(statusColor(t.Status), string(t.Status)), rounds(t))
	}
	if len(i.Left) > 0 {
		p.Line("")
		p.Line("%s", p.Paint(Bold, "Not taken over"))
		rows := make([][]cell, len(i.Left))
		for n, left := range i.Left {
			rows[n] = []cell{{left.What, Plain}, {left.Why, Plain}}
		}
		p.table([]string{"WHAT", "WHY"}, rows)
	}
	p.Line("")
	if len(i.Adapters) > 0 {
		p.Line("agent CLIs that are installed: %s", strings.Join(i.Adapters, ", "))
	} else {
		p.Line("agent CLIs that are installed: none; a round needs reports in %s, or --report FILE", project.ConfigFile)
	}
	p.next(step{"set verify and reports in " + project.ConfigFile + "; proposals are there as comments", "switchyard round TASK"})
}
