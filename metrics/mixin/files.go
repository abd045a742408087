package mixin

import (
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/metrics"
)

// File is a generated file of this folder.
type File struct {
	Name     string
	Contents []byte
}

// RecordingRules returns the groups of rules.yaml.
func RecordingRules(families []metrics.Family, t Thresholds) []Group {
	terms := newTerms(families)
	return []Group{sums(terms), ratios(terms), convergence(), drift(terms, t)}
}

// Alerts returns the groups of alerts.yaml.
func Alerts(t Thresholds) []Group {
	return []Group{loopAlerts(t), spawnAlerts(t), policyAlerts(t), wayOutAlerts(t)}
}

// Files returns the generated files. It fails where an expression speaks of a metric,
// a label or a value that there is not.
func Files(families []metrics.Family, t Thresholds) ([]File, error) {
	rules, alerts, board := RecordingRules(families, t), Alerts(t), Overview()
	v, err := NewVocabulary(families, rules...)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(v.checkRules(rules...), v.checkRules(alerts...), v.checkBoard(board)); err != nil {
		return nil, err
	}
	var files []File
	for _, f := range []struct {
		name  string
		write func() ([]byte, error)
	}{
		{"rules.yaml", func() ([]byte, error) { return ruleFile(rules...) }},
		{"alerts.yaml", func() ([]byte, error) { return ruleFile(alerts...) }},
		{"dashboard.json", board.json},
	} {
		contents, err := f.write()
		if err != nil {
			return nil, err
		}
		files = append(files, File{f.name, contents})
	}
	return files, nil
}

// checkRules says which rules have expressions that speak of what there is not.
func (v *Vocabulary) checkRules(groups ...Group) error {
	var wrong []error
	for _, g := range groups {
		for _, r := range g.Rules {
			if err := v.Check(r.Expr); err != nil {
				wrong = append(wrong, fmt.Errorf("%s%s: %w", r.Record, r.Alert, err))
			}
		}
	}
	return errors.Join(wrong...)
}
