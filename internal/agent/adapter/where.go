package adapter

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/lazy"
)

// where selects the events for which all terms hold.
type where []term

// term is a condition: "path" (the value exists and is not null), "path=text",
// "path!=text" or "path~regexp". A missing value differs from every text.
type term struct {
	path path
	op   string
	text string
	form *regexp.Regexp
}

const (
	opIs     = "="
	opIsNot  = "!="
	opLike   = "~"
	opExists = ""
)

// parse parses terms joined by commas, so neither a text nor a regexp can contain one.
func (w *where) parse(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		t, err := parseTerm(part)
		if err != nil {
			return err
		}
		*w = append(*w, t)
	}
	return nil
}

var termForm = lazy.Regexp(`(?s)^([^!=~]*)(?:(!=|=|~)(.*))?$`)

func parseTerm(text string) (term, error) {
	m := termForm().FindStringSubmatch(text)
	if m == nil {
		return term{}, fmt.Errorf("%q is not a condition: write path, path=text, path!=text or path~regexp", text)
	}
	t := term{op: m[2], text: m[3]}
	err := t.path.parse(m[1])
	if err == nil && t.op == opLike {
		t.form, err = regexp.Compile(t.text)
	}
	return t, err
}

// holds reports whether w selects an event. Without terms it selects all events.
func (w where) holds(e event) bool {
	for _, t := range w {
		if !t.holds(e) {
			return false
		}
	}
	return true
}

func anyHolds(all []where, e event) bool {
	return slices.ContainsFunc(all, func(w where) bool { return w.holds(e) })
}

func (t term) holds(e event) bool {
	for _, v := range t.path.values(e) {
		switch text, ok := scalar(v); {
		case t.op == opExists && v.Kind() != 'n':
			return true
		case t.op == opLike && ok && t.form.MatchString(text):
			return true
		case (t.op == opIs || t.op == opIsNot) && ok && text == t.text:
			return t.op == opIs
		}
	}
	return t.op == opIsNot
}
