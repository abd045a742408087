package nubospilot

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// settings reads config.json.
func (r *reader) settings() {
	data, err := r.file(configFile)
	if err != nil {
		r.leave(configFile, "%s", safefile.Reason(err))
		return
	}
	s := &r.result.Settings
	known := map[string]func(jsontext.Value) string{
		"loop.maxRounds":     number(&s.MaxRounds, 100),
		"loop.verify_runs":   number(&s.VerifyRuns, 10),
		"swarm.research.k":   number(&s.Researchers, 5),
		"agents.architect":   toggle(&s.Architect),
		"agents.test_writer": toggle(&s.TestWriter),
	}
	var others []string
	var visit func(prefix string, text jsontext.Value) error
	visit = func(prefix string, text jsontext.Value) error {
		var object map[string]jsontext.Value
		if err := json.Unmarshal(text, &object); err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(object)) {
			path, value := prefix+name, object[name]
			isPrefix := slices.ContainsFunc(slices.Collect(maps.Keys(known)), func(k string) bool { return strings.HasPrefix(k, path+".") })
			switch read := known[path]; {
			case read != nil:
				if want := read(value); want != "" {
					r.leave(path, "its value %s is not %s", clip(string(value)), want)
				}
			case !isPrefix:
				others = append(others, path)
			case visit(path+".", value) != nil:
				r.leave(path, "it is not an object")
			}
		}
		return nil
	}
	if err := visit("", data); err != nil {
		r.leave(configFile, "it is damaged: %s", clip(textutil.JSONReason(err).Error()))
	}
	if s.VerifyRuns > 1 {
		r.leave("loop.verify_runs", "verify.runs stands beside verify.command, which is yours to add to switchyard.yaml")
	}
	if len(others) > 0 {
		r.leave(configFile+": "+listSome(others), "these settings have no counterpart, or another form in switchyard.yaml: spawn says how agents are run")
	}
}

// number returns a function that stores a number from 1 to most. The function returns what the
// value should be, or "" if it is that.
func number(into *int, most int) func(jsontext.Value) string {
	return func(value jsontext.Value) string {
		var n int
		if json.Unmarshal(value, &n) != nil || n < 1 || n > most {
			return fmt.Sprintf("a whole number from 1 to %d", most)
		}
		*into = n
		return ""
	}
}

// toggle is like number, for true and false.
func toggle(into **bool) func(jsontext.Value) string {
	return func(value jsontext.Value) string {
		kind := value.Kind()
		if kind != jsontext.KindTrue && kind != jsontext.KindFalse {
			return "true or false"
		}
		*into = new(kind == jsontext.KindTrue)
		return ""
	}
}
