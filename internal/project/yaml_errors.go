package project

import (
	"errors"
	"strings"

	"go.yaml.in/yaml/v3"
)

// describeYAMLError says in one line, and without the names of our types, what the parser
// has to say.
func describeYAMLError(err error) string {
	text := err.Error()
	if e, ok := errors.AsType[*yaml.TypeError](err); ok {
		text = strings.Join(e.Errors, "; ")
	}
	if before, _, ok := strings.Cut(text, "invalid map key"); ok {
		text = before + "a key is no word" // What follows is a value in the notation of Go.
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
