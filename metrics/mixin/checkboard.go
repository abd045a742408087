package mixin

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// plain puts durations in the place of Grafana's variables, so that an expression can
// be read without Grafana. Variables within quotes are ordinary text.
func plain(expr string) string {
	return strings.NewReplacer("$__rate_interval", "5m", "$__range", "7d").Replace(expr)
}

// checkBoard says which queries speak of what there is not, also in the names of their
// series.
func (v *Vocabulary) checkBoard(b Board) error {
	var wrong []error
	for _, e := range b.exprs() {
		err := v.Check(plain(e.expr))
		if err == nil {
			err = v.checkText(e)
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", e.where, err))
		}
	}
	return errors.Join(wrong...)
}

// checkText says which labels a text names that its expression's series cannot have.
// The expression itself is in order.
func (v *Vocabulary) checkText(e labelled) error {
	read, _, err := uses(plain(e.expr))
	if err != nil {
		return err
	}
	var known []string
	for _, u := range read {
		labels, _ := v.Labels(u.Metric)
		known = append(known, labels...)
	}
	var wrong []error
	for _, found := range regexp.MustCompile(`\{\{(.*?)\}\}`).FindAllStringSubmatch(e.text, -1) {
		if name := found[1]; !target(name) && !slices.Contains(known, name) {
			wrong = append(wrong, fmt.Errorf("%q names a label that nothing has which is read here", e.text))
		}
	}
	return errors.Join(wrong...)
}
