package textutil

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"sort"

	"go.yaml.in/yaml/v3"
)

// YAMLSyntax returns the line of the syntax error in a text, counted from 1, and what is wrong
// there; a text without such an error returns "".
//
// The parser names no line, the line above, or the first line of the mapping around the error.
// So the line is searched for: with it, the beginning of the text has the same error.
func YAMLSyntax(data []byte) (line int, problem string) {
	err := parseYAML(data)
	if err == nil {
		return 0, ""
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	line = 1 + sort.Search(len(lines)-1, func(i int) bool {
		part := parseYAML(bytes.Join(lines[:i+1], nil))
		return part != nil && part.Error() == err.Error()
	})
	problem = regexp.MustCompile(`^yaml: (line \d+: )?`).ReplaceAllString(err.Error(), "")
	if problem == "found character that cannot start any token" {
		problem = "a value does not begin with this character, unless it is in quotes"
		if bytes.HasPrefix(bytes.TrimLeft(lines[line-1], " "), []byte("\t")) {
			problem = "found a tab, which must not indent a line; use spaces"
		}
	}
	return line, problem
}

// parseYAML parses the first two documents of a text.
func parseYAML(data []byte) error {
	d := yaml.NewDecoder(bytes.NewReader(data))
	for range 2 {
		var document yaml.Node
		if err := d.Decode(&document); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}
