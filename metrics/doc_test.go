package metrics_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/doccheck"
	"github.com/switchyard-dev/switchyard/metrics"
)

// TestDocumentedMetrics checks the table of docs/metrics.md against the families.
// UPDATE=1 rewrites it.
func TestDocumentedMetrics(t *testing.T) {
	var table strings.Builder
	table.WriteString("| metric | type | labels | what it is |\n|---|---|---|---|\n")
	for _, f := range metrics.Families() {
		var labels []string
		for _, l := range f.Labels {
			text := "`" + l.Name + "`"
			if l.Values != nil {
				text += " (" + strings.Join(l.Values, ", ") + ")"
			}
			labels = append(labels, text)
		}
		kind := string(f.Kind)
		if f.Kind == metrics.Histogram {
			kind += fmt.Sprintf(", %s to %s", border(f.Buckets[0]), border(f.Buckets[len(f.Buckets)-1]))
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", f.Name, kind, strings.Join(labels, "; "), f.Help)
	}
	doccheck.Table(t, "../docs", "metrics.md", "metrics", table.String())
}

// border formats the bound of a bucket; a power of two is written as such.
func border(b float64) string {
	if frac, exp := math.Frexp(b); frac == 0.5 && b != 1 {
		return fmt.Sprintf("2^%d", exp-1)
	}
	return fmt.Sprint(b)
}
