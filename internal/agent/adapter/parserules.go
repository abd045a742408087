package adapter

import (
	"regexp"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
)

// textRules parses rules for one text.
func (p *parser) textRules(to *[]rule) func(value) {
	return func(v value) { *to = p.rulesOf(v, pickLast, pickFirst, pickConcat, pickKeys) }
}

// numberRules parses rules for one number.
func (p *parser) numberRules(to *[]rule) func(value) {
	return func(v value) { *to = p.rulesOf(v, pickLast, pickSum) }
}

// listRules parses rules that find any number of texts.
func (p *parser) listRules(to *[]rule) func(value) {
	return func(v value) { *to = p.rulesOf(v) }
}

// rulesOf parses a list of rules. If only one pick is possible, picks is empty.
func (p *parser) rulesOf(v value, picks ...pick) []rule {
	var all []rule
	p.each(v, func(v value) {
		r := rule{pick: pickLast}
		known := fields{
			"where": func(v value) { r.where = p.where(v) },
			"path":  func(v value) { r.paths = p.paths(v) },
		}
		if len(picks) > 0 {
			known["pick"] = func(v value) { r.pick = p.pick(v, picks) }
			known["reset"] = func(v value) { r.reset = p.where(v) }
			known["once"] = func(v value) { r.once = p.path(v) }
		}
		p.object(v, known, "path")
		all = append(all, r)
	})
	return all
}

func (p *parser) pick(v value, picks []pick) pick {
	words := make([]string, 0, len(picks))
	for _, pick := range picks {
		words = append(words, string(pick))
	}
	return pick(p.oneOf(v, words...))
}

func (p *parser) usage(v value) {
	p.object(v, fields{
		"in":     p.numberRules(&p.rules.in),
		"out":    p.numberRules(&p.rules.out),
		"cached": p.numberRules(&p.rules.cached),
	})
}

func (p *parser) errorRule(v value) {
	var r errorRule
	p.object(v, fields{
		"stream":       func(v value) { r.errors = p.oneOf(v, "stdout", "stderr") == "stderr" },
		"where":        func(v value) { r.where = p.where(v) },
		"cleared_by":   func(v value) { r.cleared = p.where(v) },
		"class":        func(v value) { r.class = p.class(v) },
		"message":      func(v value) { r.message = p.paths(v) },
		"status":       func(v value) { r.status = p.paths(v) },
		"status_match": func(v value) { r.statusForm = p.regexp(v, 1) },
		"kind":         func(v value) { r.kind = p.paths(v) },
		"retry_after":  func(v value) { r.after = p.paths(v) },
		"retry_match":  func(v value) { r.afterForm = p.regexp(v, 1) },
	}, "where")
	if p.adapter.form == formText && !r.errors {
		p.note(v, "must be about stderr: the output is a text")
	}
	p.rules.errors = append(p.rules.errors, r)
}

// classRules parses rules that classify an error by its kind or its message.
func (p *parser) classRules(v value) []classRule {
	var all []classRule
	p.each(v, func(v value) {
		var c classRule
		p.object(v, fields{
			"kind":  func(v value) { c.kind = p.wholeRegexp(v) },
			"match": func(v value) { c.match = p.regexp(v, 0) },
			"class": func(v value) { c.class = p.class(v) },
		}, "class")
		members, _ := v.of.(map[string]any)
		_, kind := members["kind"]
		if _, match := members["match"]; kind == match {
			p.note(v, "must have kind or match, and not both")
		}
		all = append(all, c)
	})
	return all
}

// wholeRegexp parses a regular expression for a whole text.
func (p *parser) wholeRegexp(v value) *regexp.Regexp {
	form := p.regexp(v, 0)
	if form == nil {
		return nil
	}
	return regexp.MustCompile(`^(?:` + form.String() + `)$`)
}

func (p *parser) class(v value) outcome.Class {
	words := make([]string, 0, len(Classes()))
	for _, c := range Classes() {
		words = append(words, string(c))
	}
	return outcome.Class(p.oneOf(v, words...))
}
