package ledger

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/counters"
)

// Limits of a Projection's changes.
const (
	// MaxChanges is how many changes one event may make: more than MaxEntries, because
	// everything that has an entry, such as a finding, is counted too.
	MaxChanges = 250_000
	// MaxLabels limits the labels of a measure.
	MaxLabels = 16
	maxName   = 64
)

// checkCounts returns a copy of a fold's changes with canonical exemplars, or the error of
// one that is against the rules.
func checkCounts(counts []counters.Change) ([]counters.Change, error) {
	if len(counts) > MaxChanges {
		return nil, invalid("the fold changes %d sums, more than %d", len(counts), MaxChanges)
	}
	counts = slices.Clone(counts)
	for i, c := range counts {
		if err := checkMeasure(c.Measure); err != nil {
			return nil, err
		}
		if len(c.Values) != len(c.Measure.Labels) {
			return nil, invalid("the measure %s has %d labels, a change of it %d values",
				c.Measure.Name, len(c.Measure.Labels), len(c.Values))
		}
		if c.Exemplar == nil {
			continue
		}
		if len(c.Exemplar) > counters.MaxExemplar {
			return nil, invalid("an exemplar of the measure %s has %d bytes, more than %d",
				c.Measure.Name, len(c.Exemplar), counters.MaxExemplar)
		}
		note := c.Exemplar.Clone()
		if err := canonicalize(&note); err != nil {
			return nil, invalid("an exemplar of the measure %s is not JSON: %w", c.Measure.Name, err)
		}
		counts[i].Exemplar = note
	}
	return counts, nil
}

// checkMeasure fails unless a fold may count under m.
func checkMeasure(m counters.Measure) error {
	switch {
	case !isName(m.Name):
		return invalid("%.300q is not a name of a measure", m.Name)
	case m.Name == LabelMeasure || m.Name == OverflowMeasure:
		return invalid("the measure %s is the ledger's own", m.Name)
	case len(m.Labels) > MaxLabels:
		return invalid("the measure %s has %d labels, more than %d", m.Name, len(m.Labels), MaxLabels)
	}
	for _, d := range m.Labels {
		if !isName(d.Name) || d.Cap < 0 {
			return invalid("the measure %s has a dimension %.300q with a cap of %d", m.Name, d.Name, d.Cap)
		}
	}
	return nil
}

// isName reports whether s is [a-z][a-z0-9_]{0,63}.
func isName(s string) bool {
	return isWord(s, maxName, func(c byte, first bool) bool {
		return 'a' <= c && c <= 'z' || !first && ('0' <= c && c <= '9' || c == '_')
	})
}

// canonicalize brings JSON into the stored form: one line, with canonical strings.
func canonicalize(value *jsontext.Value) error {
	return value.Format(jsontext.AllowDuplicateNames(false), jsontext.AllowInvalidUTF8(false),
		jsontext.PreserveRawStrings(false))
}
