package render

import (
	"maps"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/metrics"
)

// Push prints the result of a push.
func (p *Printer) Push(got metrics.PushResult) {
	var group []string
	for _, name := range slices.Sorted(maps.Keys(got.Grouping)) {
		group = append(group, name+"="+got.Grouping[name])
	}
	what := "removed the metrics"
	if !got.Deleted {
		what = "pushed " + textutil.Count(got.Families, "metric")
	}
	p.Line("%s  %s at %s of %s", p.Paint(Green, "done"), what, got.URL, strings.Join(group, ", "))
	if got.Attempts > 1 {
		p.Line("      after %d attempts", got.Attempts)
	}
}
