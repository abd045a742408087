package render

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/policy/replay"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// maxFlipsShown is the number of changed decisions that are shown; JSON has more.
const maxFlipsShown = 20

// Replay prints the decisions of a candidate on recorded rounds.
func (p *Printer) Replay(r replay.Report) {
	p.Line("%s  %s by %s", p.Paint(Bold, "replayed"), textutil.Count(int(r.Decisions), "decision"), policyName(r.Candidate))
	for _, u := range r.Policies {
		p.Line("  %d decided by %s", u.Decisions, policyName(u.Policy))
	}
	if r.Flipped() == 0 {
		p.Line("%s  no decision changes", p.Paint(Green, "same"))
	} else {
		p.Line("%s  %s of %d would go elsewhere", p.Paint(Yellow, "changed"), textutil.Count(int(r.Flipped()), "decision"), r.Decisions)
	}
	var rows [][]cell
	for _, c := range r.Matrix {
		color := Plain
		if c.From != c.To {
			color = Yellow
		}
		rows = append(rows, []cell{{c.From, actionColor(c.From)}, {c.To, actionColor(c.To)}, {strconv.FormatInt(c.Count, 10), color}})
	}
	if len(rows) > 0 {
		p.Line("")
		p.table([]string{"FROM", "TO", "DECISIONS"}, rows)
	}
	if len(r.Flips) == 0 {
		return
	}
	p.Line("")
	rows = nil
	for _, f := range r.Flips[:min(maxFlipsShown, len(r.Flips))] {
		causes := make([]string, len(f.Causes))
		for i, c := range f.Causes {
			causes[i] = c.String()
		}
		rows = append(rows, []cell{
			{f.Task, Plain}, {strconv.Itoa(f.Round), Plain}, {f.From.NextAction, actionColor(f.From.NextAction)},
			{f.To.NextAction, actionColor(f.To.NextAction)}, {fmt.Sprintf("%s to %s", f.From.Reason, f.To.Reason), Plain}, {strings.Join(causes, "; "), Dim},
		})
	}
	p.table([]string{"TASK", "ROUND", "FROM", "TO", "REASON", "BECAUSE"}, rows)
	if more := r.Flipped() - int64(len(rows)); more > 0 {
		p.Line("and %d more", more)
	}
}
