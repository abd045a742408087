package render

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/metrics/oracle"
	"github.com/switchyard-dev/switchyard/internal/metrics/pushgateway"
)

// maxDifferencesShown is how many differences are shown as text; JSON has more.
const maxDifferencesShown = 20

// Recount shows how metrics compare with their recount.
func (p *Printer) Recount(r oracle.Report) {
	if len(r.Differences) == 0 {
		p.Line("%s  %d series equal their recount of %s", p.Paint(Green, "sound"), r.Series, Count(int(r.Events), "event"))
		return
	}
	number := func(n *float64) string {
		if n == nil {
			return "-"
		}
		return strconv.FormatFloat(*n, 'f', -1, 64)
	}
	var rows [][]cell
	for _, d := range r.Differences[:min(maxDifferencesShown, len(r.Differences))] {
		rows = append(rows, []cell{{number(d.Shown), Red}, {number(d.Recounted), Green}, {d.String(), Plain}})
	}
	p.table([]string{"SHOWN", "COUNTED", "SERIES"}, rows)
	if more := len(r.Differences) + r.Omitted - len(rows); more > 0 {
		p.Line("and %d more", more)
	}
}

// Push tells of a push.
func (p *Printer) Push(got pushgateway.Receipt) {
	var group []string
	for _, name := range slices.Sorted(maps.Keys(got.Grouping)) {
		group = append(group, name+"="+got.Grouping[name])
	}
	what := "removed the metrics"
	if !got.Deleted {
		what = "pushed " + Count(got.Families, "metric")
	}
	p.Line("%s  %s at %s of %s", p.Paint(Green, "done"), what, got.URL, strings.Join(group, ", "))
	if got.Attempts > 1 {
		p.Line("      after %d attempts", got.Attempts)
	}
}
