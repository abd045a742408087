package hook

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// Both programs take an exit status of 2 for a block, and Go programs end with it if they
// crash. So the command never does.
const (
	command     = "switchyard hook stop"
	handler     = `{"type": "command", "command": "` + command + ` || exit 1", "timeout": 60}`
	stopEvent   = "Stop"
	hooksMember = "hooks"
)

// Install adds our Stop hook to the text of a program's settings, "" for none. Settings
// that have it do not change.
//
// # Errors
//
// hook-settings-invalid.
func Install(settings []byte) ([]byte, error) {
	return edit(settings, func(groups []jsontext.Value) ([]jsontext.Value, error) {
		_, found, err := without(groups)
		if err != nil || found {
			return groups, err
		}
		return append(groups, jsontext.Value(`{"hooks": [`+handler+`]}`)), nil
	})
}

// Uninstall removes our Stop hook.
//
// # Errors
//
// hook-settings-invalid.
func Uninstall(settings []byte) ([]byte, error) {
	return edit(settings, func(groups []jsontext.Value) ([]jsontext.Value, error) {
		rest, _, err := without(groups)
		return rest, err
	})
}

// without returns groups of hooks without ours, and whether it was there.
func without(groups []jsontext.Value) (rest []jsontext.Value, found bool, err error) {
	for _, text := range groups {
		group, err := parseObject(text)
		if err != nil {
			return nil, false, err
		}
		handlers, err := group.array(hooksMember)
		if err != nil {
			return nil, false, err
		}
		others := slices.DeleteFunc(slices.Clone(handlers), isOurs)
		if len(others) < len(handlers) {
			found = true
			if len(others) == 0 {
				continue
			}
			text = group.with(hooksMember, encodeArray(others)).encode()
		}
		rest = append(rest, text)
	}
	return rest, found, nil
}

// isOurs reports whether a hook runs our command, with any flags.
func isOurs(hook jsontext.Value) bool {
	var h struct {
		Command string `json:"command"`
	}
	return json.Unmarshal(hook, &h) == nil && strings.HasPrefix(h.Command, command)
}

// edit changes the groups of Stop hooks in settings, and leaves the order of members, and
// all other values, as they are. What is empty afterwards is removed.
func edit(settings []byte, change func([]jsontext.Value) ([]jsontext.Value, error)) ([]byte, error) {
	if len(bytes.TrimSpace(settings)) == 0 {
		settings = []byte("{}")
	}
	top, err := parseObject(settings)
	if err != nil {
		return nil, err
	}
	hooks := object{}
	if value := top.get(hooksMember); value != nil {
		if hooks, err = parseObject(value); err != nil {
			return nil, err
		}
	}
	before, err := hooks.array(stopEvent)
	if err != nil {
		return nil, err
	}
	after, err := change(before)
	if err != nil || slices.EqualFunc(before, after, func(a, b jsontext.Value) bool { return bytes.Equal(a, b) }) {
		return settings, err
	}
	hooks = hooks.with(stopEvent, encodeArray(after))
	top = top.with(hooksMember, hooks.encode())
	text := top.encode()
	err = text.Indent(jsontext.WithIndent(indentOf(settings)))
	return append(text, '\n'), err
}

// indentOf returns the white space by which a text of JSON indents its members.
func indentOf(text []byte) string {
	if m := regexp.MustCompile(`^\s*\{\s*\n( +|\t)"`).FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return "  "
}

// object is a JSON object with the order of its members.
type object []member

type member struct {
	name  string
	value jsontext.Value
}

// parseObject parses a JSON object.
func parseObject(text []byte) (object, error) {
	if value := jsontext.Value(text); !value.IsValid() || value.Kind() != '{' {
		return nil, errs.New(errs.HookSettingsInvalid, "not a JSON object: %.60q", text)
	}
	// The text is valid, so that reading it does not fail.
	d := jsontext.NewDecoder(bytes.NewReader(text))
	_, _ = d.ReadToken()
	o := object{}
	for d.PeekKind() != '}' {
		token, _ := d.ReadToken()
		name := token.String()
		value, _ := d.ReadValue()
		o = append(o, member{name, value.Clone()})
	}
	return o, nil
}

// get returns the value of a member, nil for none.
func (o object) get(name string) jsontext.Value {
	if i := o.index(name); i >= 0 {
		return o[i].value
	}
	return nil
}

func (o object) index(name string) int {
	return slices.IndexFunc(o, func(m member) bool { return m.name == name })
}

// array returns the elements of a member, nil for none.
func (o object) array(name string) (elements []jsontext.Value, err error) {
	value := o.get(name)
	if value == nil {
		return nil, nil
	}
	if value.Kind() != '[' || json.Unmarshal(value, &elements) != nil {
		return nil, errs.New(errs.HookSettingsInvalid, "%s is not a list: %.60q", name, value)
	}
	return elements, nil
}

// with returns the object with another value of a member, or without the member if the
// value is empty.
func (o object) with(name string, value jsontext.Value) object {
	empty := string(value) == "[]" || string(value) == "{}"
	switch i := o.index(name); {
	case i >= 0 && empty:
		return slices.Delete(slices.Clone(o), i, i+1)
	case i >= 0:
		o = slices.Clone(o)
		o[i].value = value
		return o
	default:
		return append(slices.Clip(o), member{name, value})
	}
}

func (o object) encode() jsontext.Value {
	members := make([][]byte, len(o))
	for i, m := range o {
		name, _ := jsontext.AppendQuote(nil, m.name) // It was read from valid JSON.
		members[i] = append(append(name, ':'), m.value...)
	}
	return wrap("{", members, "}")
}

func encodeArray(values []jsontext.Value) jsontext.Value {
	texts := make([][]byte, len(values))
	for i, v := range values {
		texts[i] = v
	}
	return wrap("[", texts, "]")
}

func wrap(open string, parts [][]byte, end string) jsontext.Value {
	return slices.Concat([]byte(open), bytes.Join(parts, []byte(",")), []byte(end))
}
