package adapter

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// Problem is an error in an adapter.
type Problem struct {
	// Path is a JSON Pointer (RFC 6901) into the file.
	Path string `json:"path"`
	// Text follows the path in a message.
	Text string `json:"text"`
}

// value is a JSON value and its path.
type value struct {
	path string
	of   any
}

// schema parses values and collects all problems.
type schema struct{ problems []Problem }

func (s *schema) note(v value, format string, args ...any) {
	s.problems = append(s.problems, Problem{Path: v.path, Text: fmt.Sprintf(format, args...)})
}

// err reports the problems in the order of their paths.
func (s *schema) err() error {
	if len(s.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(s.problems, func(a, b Problem) int { return cmp.Compare(a.Path, b.Path) })
	first := s.problems[0]
	more := ""
	if n := len(s.problems) - 1; n > 0 {
		more = fmt.Sprintf(", and %d more", n)
	}
	return errs.New(errs.AdapterInvalid, "the adapter is invalid: %s %s%s", cmp.Or(first.Path, "the file"), first.Text, more).
		With("problems", s.problems)
}

// fields are the known members of an object, with their parsers.
type fields map[string]func(value)

// object parses an object with the required members need.
func (s *schema) object(v value, known fields, need ...string) {
	members, ok := v.of.(map[string]any)
	if !ok {
		s.note(v, "must be an object")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		at := v.at(name, members[name])
		if read, ok := known[name]; ok {
			read(at)
		} else {
			s.note(at, "is unknown; known here: %s", strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
	}
	for _, name := range need {
		if _, ok := members[name]; !ok {
			s.note(v.at(name, nil), "is missing")
		}
	}
}

// at is a member or element of v.
func (v value) at(name string, of any) value {
	return value{v.path + "/" + strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1"), of}
}

// each parses an array.
func (s *schema) each(v value, read func(value)) {
	elements, ok := v.of.([]any)
	if !ok {
		s.note(v, "must be a list")
	}
	for i, element := range elements {
		read(v.at(strconv.Itoa(i), element))
	}
}

// members parses an object with arbitrary names.
func (s *schema) members(v value, read func(name string, v value)) {
	members, ok := v.of.(map[string]any)
	if !ok {
		s.note(v, "must be an object")
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		read(name, v.at(name, members[name]))
	}
}

func (s *schema) text(v value) string {
	text, ok := v.of.(string)
	if !ok {
		s.note(v, "must be a text")
	}
	return text
}

// word parses a text of a form, which is described in words.
func (s *schema) word(v value, form *regexp.Regexp, described string) string {
	text, ok := v.of.(string)
	if !ok || !form.MatchString(text) {
		s.note(v, "must be %s", described)
	}
	return text
}

func (s *schema) oneOf(v value, words ...string) string {
	text, ok := v.of.(string)
	if !ok || !slices.Contains(words, text) {
		s.note(v, "must be one of %s", strings.Join(words, ", "))
	}
	return text
}

func (s *schema) texts(v value) []string {
	var all []string
	s.each(v, func(v value) { all = append(all, s.text(v)) })
	return all
}

// words parses a list of texts of a form.
func (s *schema) words(v value, form *regexp.Regexp, described string) []string {
	var all []string
	s.each(v, func(v value) { all = append(all, s.word(v, form, described)) })
	return all
}

// regexp parses a regular expression (RE2) with at least so many groups.
func (s *schema) regexp(v value, groups int) *regexp.Regexp {
	form, err := regexp.Compile(s.text(v))
	switch {
	case err != nil:
		s.note(v, "is no regular expression: %v", err)
		return nil
	case form.NumSubexp() < groups:
		s.note(v, "needs a group, which is what it finds")
	}
	return form
}

func (s *schema) where(v value) where {
	w, err := parseWhere(s.text(v))
	if err != nil {
		s.note(v, "is no condition: %v", err)
	}
	return w
}

func (s *schema) path(v value) path {
	p, err := parsePath(s.text(v))
	if err != nil {
		s.note(v, "is no path: %v", err)
	}
	return p
}

// paths parses one path or a list of them.
func (s *schema) paths(v value) []path {
	if _, ok := v.of.(string); ok {
		return []path{s.path(v)}
	}
	var all []path
	s.each(v, func(v value) { all = append(all, s.path(v)) })
	if len(all) == 0 {
		s.note(v, "must be a path or a list of paths")
	}
	return all
}
