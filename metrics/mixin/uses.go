package mixin

import (
	"fmt"
	"slices"
)

// Use is one place of an expression that reads a metric.
type Use struct {
	Metric string
	// Function is what is applied to a range of it, "" for none.
	Function string
	// Matchers narrow it down.
	Matchers []Matcher
}

// Matcher is a condition on a label.
type Matcher struct{ Label, Operator, Value string }

// uses lists what an expression reads, and the labels that it groups and matches by.
func uses(expr string) (read []Use, grouping []string, err error) {
	all, err := tokens(expr)
	if err != nil {
		return nil, nil, err
	}
	at := func(i int) token {
		if i < 0 || i >= len(all) {
			return token{kind: mark}
		}
		return all[i]
	}
	for i := 0; i < len(all); i++ {
		t := all[i]
		if t.kind != word {
			continue
		}
		switch next := at(i + 1); {
		case grouper(t.text):
			if !next.is("(") {
				return nil, nil, fmt.Errorf("%s is followed by no list of labels", t.text)
			}
			for i += 2; !at(i).is(")"); i++ {
				switch {
				case i >= len(all):
					return nil, nil, fmt.Errorf("the list of labels after %s has no end", t.text)
				case at(i).kind == word:
					grouping = append(grouping, at(i).text)
				}
			}
		case operator(t.text), next.is("("), next.kind == word && (next.text == "by" || next.text == "without"):
			// An operator, a function, or an aggregation.
		default:
			u := Use{Metric: t.text}
			before := i - 1
			if next.is("{") {
				if u.Matchers, i, err = matchers(all, i+2); err != nil {
					return nil, nil, fmt.Errorf("%s: %w", t.text, err)
				}
			}
			if at(i+1).is("[") && at(before).is("(") {
				u.Function = at(before - 1).text
			}
			read = append(read, u)
		}
	}
	return read, grouping, nil
}

// matchers reads the conditions from behind a brace up to the closing one, where end is.
func matchers(all []token, from int) (found []Matcher, end int, err error) {
	for i := from; i < len(all); i++ {
		switch {
		case all[i].is("}"):
			return found, i, nil
		case all[i].is(","):
		case i+2 < len(all) && all[i].kind == word && all[i+1].kind == mark && all[i+2].kind == quoted:
			found = append(found, Matcher{all[i].text, all[i+1].text, all[i+2].text})
			i += 2
		default:
			return nil, 0, fmt.Errorf("%q is no condition on a label", all[i].text)
		}
	}
	return nil, 0, fmt.Errorf("the conditions have no end")
}

// grouper reports whether a list of labels follows a word.
func grouper(w string) bool {
	return slices.Contains([]string{"by", "without", "on", "ignoring", "group_left", "group_right"}, w)
}

// operator reports whether a word is an operator or a part of one.
func operator(w string) bool {
	return slices.Contains([]string{"and", "or", "unless", "bool", "offset"}, w)
}
