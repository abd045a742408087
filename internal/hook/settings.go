package hook

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/sjson"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Both programs take exit status 2 as a block, and a Go program that crashes exits with 2. So
// the command maps every failure to 1.
const (
	command = "switchyard hook stop"
	group   = `{"hooks": [{"type": "command", "command": "` + command + ` || exit 1", "timeout": 60}]}`
)

// settings is the part of a program's settings that has the groups of Stop hooks.
type settings struct {
	Hooks struct {
		Stop []struct {
			Hooks []jsontext.Value `json:"hooks"`
		} `json:"Stop"`
	} `json:"hooks"`
}

func parse(text []byte) (s settings, err error) {
	err = json.Unmarshal(text, &s)
	if err == nil && jsontext.Value(text).Kind() == 'n' {
		err = errors.New("it is null")
	}
	if err != nil {
		return s, errs.New(errs.HookSettingsInvalid, "not an object with lists of hooks: %w", textutil.JSONReason(err))
	}
	return s, nil
}

// Install adds our Stop hook to the text of a program's settings, which may be empty. It
// returns settings that have the hook unchanged. Otherwise it keeps the order of members and
// all other values.
//
// # Errors
//
// hook-settings-invalid.
func Install(text []byte) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}")
	}
	s, err := parse(text)
	if err != nil {
		return nil, err
	}
	for _, g := range s.Hooks.Stop {
		if slices.ContainsFunc(g.Hooks, isOurs) {
			return text, nil
		}
	}
	at, value := "hooks.Stop.-1", group
	if len(s.Hooks.Stop) == 0 { // It may be null, to which nothing can be appended.
		at, value = "hooks.Stop", "["+group+"]"
	}
	added, err := sjson.SetRawBytes(text, at, []byte(value))
	if err != nil {
		return nil, err
	}
	return reindent(added, text)
}

// Uninstall removes our Stop hook from the text of a program's settings, and then members that
// are empty. The result is empty if there were no other settings.
//
// # Errors
//
// hook-settings-invalid.
func Uninstall(text []byte) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return text, nil
	}
	s, err := parse(text)
	if err != nil {
		return nil, err
	}
	var ours []string // their paths, the last one first
	left := len(s.Hooks.Stop)
	for i, g := range slices.Backward(s.Hooks.Stop) {
		var inGroup []string
		for j, hook := range slices.Backward(g.Hooks) {
			if isOurs(hook) {
				inGroup = append(inGroup, fmt.Sprintf("hooks.Stop.%d.hooks.%d", i, j))
			}
		}
		if len(inGroup) > 0 && len(inGroup) == len(g.Hooks) {
			inGroup = []string{fmt.Sprintf("hooks.Stop.%d", i)}
			left--
		}
		ours = append(ours, inGroup...)
	}
	if len(ours) == 0 {
		return text, nil
	}
	if left == 0 {
		ours = []string{"hooks.Stop"}
	}
	rest := text
	for _, path := range ours {
		if rest, err = sjson.DeleteBytes(rest, path); err != nil {
			return nil, err
		}
	}
	var top struct {
		Hooks map[string]jsontext.Value `json:"hooks"`
	}
	if err := json.Unmarshal(rest, &top); err == nil && len(top.Hooks) == 0 {
		rest, err = sjson.DeleteBytes(rest, "hooks")
		if err != nil {
			return nil, err
		}
	}
	var all map[string]jsontext.Value
	if err := json.Unmarshal(rest, &all); err == nil && len(all) == 0 {
		return nil, nil
	}
	return reindent(rest, text)
}

// isOurs reports whether a hook runs our command, with or without flags.
func isOurs(hook jsontext.Value) bool {
	var h struct {
		Command string `json:"command"`
	}
	return json.Unmarshal(hook, &h) == nil && strings.HasPrefix(h.Command, command)
}

// reindent indents settings in the same way as like.
func reindent(text jsontext.Value, like []byte) ([]byte, error) {
	indent := "  "
	if m := regexp.MustCompile(`^\s*\{\s*\n( +|\t)"`).FindSubmatch(like); m != nil {
		indent = string(m[1])
	}
	err := text.Indent(jsontext.WithIndent(indent))
	return append(text, '\n'), err
}
