package oracle

import (
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/metrics"
)

// TestAllFamilies checks that every metric shown is recounted, with the same labels and
// buckets.
func TestAllFamilies(t *testing.T) {
	t.Parallel()
	unseen := byName()
	for _, f := range metrics.Families() {
		m, ok := unseen[f.Name[len(metrics.Prefix):]]
		if f.Name == metrics.Prefix+"build_info" {
			continue // It describes the program.
		}
		if !ok {
			t.Errorf("nobody recounts %s", f.Name)
			continue
		}
		delete(unseen, m.name)
		var labels []string
		for _, l := range f.Labels {
			labels = append(labels, l.Name)
		}
		var borders []float64
		for _, b := range m.borders {
			borders = append(borders, b.float())
		}
		if !slices.Equal(labels, m.labels) || !slices.Equal(borders, f.Buckets) || (f.Kind == metrics.Histogram) != (m.borders != nil) {
			t.Errorf("%s is shown with %q and %v, and recounted with %q and %v", f.Name, labels, f.Buckets, m.labels, borders)
		}
	}
	for name := range unseen {
		t.Errorf("%s is recounted and never shown", name)
	}
}
