package nubospilot

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// object is a JSON object with undecoded values.
type object map[string]jsontext.Value

// objectOf reads an object. A duplicate name is an error, since programs disagree on
// which one applies.
func objectOf(text jsontext.Value) (object, bool) {
	var o object
	if text.Kind() != '{' || json.Unmarshal(text, &o) != nil {
		return nil, false
	}
	return o, true
}

// text returns a text, or "" if it is missing.
func (o object) text(name string) string {
	s, _ := textOf(o[name])
	return s
}

// says reports whether a name is present and not null.
func (o object) says(name string) bool {
	value, ok := o[name]
	return ok && value.Kind() != 'n'
}

// holds reports whether a name has a value that is not empty.
func (o object) holds(name string) bool {
	if !o.says(name) {
		return false
	}
	switch string(o[name]) {
	case "false", `""`, "[]", "{}":
		return false
	}
	return true
}

// listOf returns the entries of an array, and whether the value is an array or missing.
func listOf(value jsontext.Value) ([]jsontext.Value, bool) {
	if len(value) == 0 || value.Kind() == 'n' {
		return nil, true
	}
	var entries []jsontext.Value
	if value.Kind() != '[' || json.Unmarshal(value, &entries) != nil {
		return nil, false
	}
	return entries, true
}

func textOf(value jsontext.Value) (string, bool) {
	var s string
	if value.Kind() != '"' || json.Unmarshal(value, &s) != nil {
		return "", false
	}
	return s, true
}

func boolOf(value jsontext.Value) (is, ok bool) {
	return value.Kind() == 't', value.Kind() == 't' || value.Kind() == 'f'
}

// maxRound is the highest valid round.
const maxRound = 1_000_000

// countOf reads an integer from 1 to maxRound in its plain form; a round must not be
// guessed.
func countOf(value jsontext.Value) (int, bool) {
	n, err := strconv.Atoi(string(value))
	return n, err == nil && strconv.Itoa(n) == string(value) && n >= 1 && n <= maxRound
}

// numberOf reads a setting as nubos-pilot does: rounded, clamped, and the default if it
// is not a number. changed reports whether the result differs from the text.
func numberOf(value jsontext.Value, least, most, fallback int) (n int, changed bool) {
	if value.Kind() != '0' {
		return fallback, true
	}
	f, _ := strconv.ParseFloat(string(value), 64) // An overflow gives infinity, which is clamped too.
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return fallback, true
	}
	n = int(min(max(math.Floor(f+0.5), float64(least)), float64(most)))
	return n, float64(n) != f
}

// taskID matches nubos-pilot's task ids.
func taskID() *regexp.Regexp { return regexp.MustCompile(`^M\d{3,}-S\d{3,}-T\d{4,}$`) }

// maxID is the maximum length of Switchyard's task ids.
const maxID = 128

// agentName matches valid names of agents.
func agentName() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`) }

// maxShown limits foreign texts in messages, in code points.
const maxShown = 80

func clip(text string) string {
	return textutil.Clip(strings.ToValidUTF8(text, "\uFFFD"), maxShown)
}

// maxNamed limits the foreign names in a message.
const maxNamed = 5

// some returns the first names of a list.
func some(names []string) string {
	names = slices.Clone(names)
	for i, n := range names {
		names[i] = clip(n)
	}
	return textutil.List(names, maxNamed)
}
