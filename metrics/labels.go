package metrics

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// The limits of constant labels: their number, and the length of a value in bytes.
const (
	maxLabels     = 16
	maxLabelValue = 200
)

// checkLabels checks constant labels: at most 16, with names that are valid in
// Prometheus, that no metric uses and that neither Prometheus nor its exporters set, and
// with values of 1 to 200 bytes of UTF-8.
//
// # Errors
//
// metrics-label-invalid.
func checkLabels(labels map[string]string) error {
	if len(labels) > maxLabels {
		return errs.New(errs.MetricsLabelInvalid, "there are %d constant labels, and at most %d are allowed", len(labels), maxLabels)
	}
	taken := reserved()
	for _, f := range Families() {
		for _, l := range f.Labels {
			taken[l.Name] = "a metric has a label of that name"
		}
	}
	legal := regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]{0,63}$`)
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		switch value := labels[name]; {
		case !legal.MatchString(name):
			return badLabel(name, "a name has 1 to 64 letters of ASCII, digits and _, and begins with no digit")
		case strings.HasPrefix(name, "__"):
			return badLabel(name, "Prometheus has names that begin with __ for itself")
		case taken[name] != "":
			return badLabel(name, taken[name])
		case value == "":
			return badLabel(name, "it has no value, which would be no label")
		case len(value) > maxLabelValue:
			return badLabel(name, "its value is too long")
		case !utf8.ValidString(value):
			return badLabel(name, "its value is not UTF-8")
		}
	}
	return nil
}

// reserved returns the labels that are set elsewhere, each with the reason.
func reserved() map[string]string {
	const byPrometheus = "Prometheus sets it itself"
	return map[string]string{
		"job": byPrometheus, "instance": byPrometheus,
		"le": "histograms have it", "quantile": "summaries have it",
	}
}

func badLabel(name, why string) error {
	name = textutil.Clip(name, 100)
	return errs.New(errs.MetricsLabelInvalid, "the constant label %q cannot be used: %s", name, why).With("label", name)
}
