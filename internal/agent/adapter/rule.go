package adapter

import (
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// pick selects one of several values. Without it, the value of the last event counts, even if
// that is missing.
type pick string

const (
	// pickFirst: the first event with a value.
	pickFirst pick = "first"
	// pickConcat: all texts, concatenated.
	pickConcat pick = "concat"
	// pickSum: the sum, which is unknown if one event has no number.
	pickSum pick = "sum"
	// pickKeys: the member names of the object in the last event.
	pickKeys pick = "keys"
)

// rule finds texts or numbers in the events that Where selects.
type rule struct {
	Where where `field:"where"`
	Path  paths `field:"path,required"`
}

// history defines how the values of several events are combined.
type history struct {
	// Reset selects events that discard earlier values. It may be nil.
	Reset where `field:"reset"`
	// Once is the path of a text. Of consecutive events with the same text, only the first one
	// counts. It may be nil.
	Once path `field:"once"`
}

func (h history) resets(e event) bool { return h.Reset != nil && h.Reset.holds(e) }

// textRule finds a text, numberRule a number. Texts at several paths are joined, numbers
// added.
type (
	textRule struct {
		rule
		history
		Pick pick `field:"pick" words:"last,first,concat,keys"`
	}
	numberRule struct {
		rule
		history
		Pick pick `field:"pick" words:"last,sum"`
	}
)

// texts has the texts that several rules found. The first rule that has a value wins.
type texts struct {
	rules []textRule
	found []foundText
}

type foundText struct {
	parts []string
	size  int
	has   bool
}

func newTexts(rules []textRule) *texts {
	return &texts{rules: rules, found: make([]foundText, len(rules))}
}

// see handles an event. It reports whether a text begins with it, and whether the text fits.
func (t *texts) see(e event) (begins, fits bool) {
	fits = true
	for i, r := range t.rules {
		f := &t.found[i]
		if r.resets(e) {
			*f = foundText{}
		}
		if !r.Where.holds(e) || r.Pick == pickFirst && f.has {
			continue
		}
		text, ok := r.text(e)
		begins = begins || ok && (r.Pick != pickConcat || !f.has)
		switch {
		case r.Pick != pickConcat:
			*f = foundText{parts: []string{text}, has: ok}
		case !ok:
		case f.size+len(text) > MaxDocument:
			fits = false
		default:
			f.parts, f.size, f.has = append(f.parts, text), f.size+len(text), true
		}
	}
	return begins, fits
}

func (t *texts) get() (string, bool) {
	for _, f := range t.found {
		if f.has {
			return strings.Join(f.parts, ""), true
		}
	}
	return "", false
}

// text returns the text that the rule finds in one event.
func (r textRule) text(e event) (string, bool) {
	var b strings.Builder
	has := false
	for _, v := range r.Path.values(e) {
		t, ok := text(v)
		if r.Pick == pickKeys {
			t, ok = names(v)
		}
		if ok {
			b.WriteString(t)
			has = true
		}
	}
	return b.String(), has
}

// names joins the member names of an object.
func names(v jsontext.Value) (string, bool) {
	if v.Kind() != '{' {
		return "", false
	}
	var all []string
	for name := range elements(v) {
		all = append(all, name)
	}
	return strings.Join(all, ", "), len(all) > 0
}

// maxNumber is the largest number that a float64 represents exactly.
const maxNumber = 1 << 53

// numbers has the numbers that several rules found. The first rule that has a value wins.
type numbers struct {
	rules []numberRule
	found []foundNumber
}

type foundNumber struct {
	value     float64
	has, lost bool
	last      string // the last text at Once
}

func newNumbers(rules []numberRule) *numbers {
	return &numbers{rules: rules, found: make([]foundNumber, len(rules))}
}

func (n *numbers) see(e event) {
	for i, r := range n.rules {
		f := &n.found[i]
		if r.resets(e) {
			*f = foundNumber{}
		}
		if !r.Where.holds(e) || r.repeated(e, f) {
			continue
		}
		value, has := r.number(e)
		switch {
		case r.Pick != pickSum:
			f.value, f.has = value, has
		case has:
			f.value, f.has = f.value+value, true
		default:
			f.lost = true
		}
	}
}

func (r numberRule) repeated(e event, f *foundNumber) bool {
	if r.Once == nil {
		return false
	}
	for _, v := range r.Once.values(e) {
		if t, ok := scalar(v); ok && t == f.last {
			return true
		} else if ok {
			f.last = t
		}
	}
	return false
}

// get returns false if the number is unknown.
func (n *numbers) get() (float64, bool) {
	for _, f := range n.found {
		if f.has && !f.lost && f.value <= maxNumber {
			return f.value, true
		}
	}
	return 0, false
}

// number returns the number that the rule finds in one event. Each path has to lead to numbers
// that are not negative.
func (r rule) number(e event) (float64, bool) {
	sum := 0.0
	for _, p := range r.Path {
		values := p.values(e)
		for _, v := range values {
			number, err := strconv.ParseFloat(string(v), 64)
			if v.Kind() != '0' || err != nil || number < 0 {
				return 0, false
			}
			sum += number
		}
		if len(values) == 0 {
			return 0, false
		}
	}
	return sum, true
}

// whole returns the number as an integer, nil if it is unknown.
func (n *numbers) whole() *int64 {
	value, has := n.get()
	if !has || value != math.Trunc(value) {
		return nil
	}
	count := int64(value)
	return &count
}

// micros returns a number of dollars in micro-dollars, rounded up. It drops the noise of
// floating-point sums below a thousandth of a micro-dollar.
func (n *numbers) micros() *int64 {
	value, has := n.get()
	const micro, noise = 1e6, 1e3
	if !has || value*micro*noise > maxNumber {
		return nil
	}
	dollars := int64(math.Ceil(math.Round(value*micro*noise) / noise))
	return &dollars
}
