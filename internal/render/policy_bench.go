package render

import (
	"fmt"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/policy/bench"
)

// PolicyBench prints how each series ends by each policy, in a table with the default cap
// and one without.
func (p *Printer) PolicyBench(r bench.Report) {
	header := []string{"SERIES", "KIND", "REVIEWS"}
	for _, by := range r.Series[0].Policies {
		header = append(header, PolicyRef(by.Policy))
	}
	capped, uncapped := newTable(header...), newTable(header...)
	for _, s := range r.Series {
		row := []any{s.Name, s.Kind, s.Reviews}
		without := row[:len(row):len(row)]
		for _, by := range s.Policies {
			row, without = append(row, ending(by.Capped)), append(without, ending(by.Uncapped))
		}
		capped.add(row...)
		uncapped.add(without...)
	}
	first := r.Series[0].Policies[0]
	p.Line("%s", p.paint(bold, fmt.Sprintf("At most %d rounds", first.Capped.MaxRounds)))
	p.table(capped)
	p.title(fmt.Sprintf("At most %d rounds", first.Uncapped.MaxRounds))
	p.table(uncapped)
}

func ending(e bench.Ending) cell {
	var rest string
	if words := openWords(e.Open); words != "" {
		rest = ": " + words
	}
	if words := openWords(e.Deferred); words != "" {
		rest += "; deferred " + words
	}
	if e.BarAt > 0 {
		rest += fmt.Sprintf("; bar from %d", e.BarAt)
	}
	if !e.Ended {
		return cell{fmt.Sprintf("goes on after %d%s", e.Review, rest), yellow}
	}
	return cell{fmt.Sprintf("%s at %d (%s)%s", e.NextAction, e.Review, e.Reason, rest), actionColor(e.NextAction)}
}

func openWords(f bench.OpenFindings) string {
	return strings.Join(nonZeroParts(part{f.Fail, "fail"}, part{f.Risk, "risk"}, part{f.Nit, "nit"}, part{f.Unrated, "unrated"}, part{f.Repeated, "repeated"}), ", ")
}
