package project

import (
	"errors"
	"strings"

	"go.yaml.in/yaml/v3"
)

// describeYAMLError returns the parser's error in one line, without the names of our
// types.
func describeYAMLError(err error) string {
	text := err.Error()
	if e, ok := errors.AsType[*yaml.TypeError](err); ok {
		text = strings.Join(e.Errors, "; ")
	}
	if before, _, ok := strings.Cut(text, "invalid map key"); ok {
		text = before + "a key is no word" // The rest is a value in Go syntax.
	}
	return strings.NewReplacer(
		"yaml: ", "",
		"field ", "unknown key ",
		" not found in type project.Lock", "",
		" not found in type project.Pin", "",
		"into map[string]project.keys", "as the plugins' names",
		"into project.keys", "as a plugin's keys",
		"!!", "",
		"\n", " ",
	).Replace(text)
}
