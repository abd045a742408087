package metrics

import (
	"cmp"
	"maps"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/label"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// checkLabels checks constant labels. Neither metrics nor Prometheus may use their names.
//
// # Errors
//
// metrics-label-invalid.
func checkLabels(labels map[string]string) error {
	if len(labels) > label.Max {
		return errs.New(errs.MetricsLabelInvalid, "there are %d constant labels, and at most %d are allowed", len(labels), label.Max)
	}
	const byPrometheus = "Prometheus sets it itself"
	taken := map[string]string{"job": byPrometheus, "instance": byPrometheus}
	for _, f := range Families() {
		for _, l := range f.Labels {
			taken[l.Name] = "a metric has a label of that name"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if why := cmp.Or(taken[name], label.Problem(name, labels[name])); why != "" {
			name = textutil.Clip(name, 100)
			return errs.New(errs.MetricsLabelInvalid, "the constant label %q cannot be used: %s", name, why).With("label", name)
		}
	}
	return nil
}
