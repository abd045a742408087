package project

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// reader reads values from a YAML document and collects all problems, so that a user can
// fix them at once. Its results are valid only if there are none.
type reader struct {
	problems []problem
	// more counts the problems beyond maxProblems.
	more int
	// plugins maps the entries of plugins to their lines.
	plugins map[string]int
	// readers are the plugins of report commands.
	readers []value
}

// problem is an error in a line, which counts from 1.
type problem struct {
	line int
	text string
}

// maxProblems limits the reported problems: a hostile file could have very many.
const maxProblems = 50

func (p problem) String() string { return fmt.Sprintf("line %d: %s", p.line, p.text) }

func (r *reader) addProblem(line int, format string, args ...any) {
	if len(r.problems) == maxProblems {
		r.more++
		return
	}
	r.problems = append(r.problems, problem{line, fmt.Sprintf(format, args...)})
}

// err returns the problems in the order of their lines: a single one in the message,
// several in the detail "problems".
func (r *reader) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(r.problems, func(a, b problem) int { return a.line - b.line })
	words := make([]string, 0, len(r.problems)+1)
	for _, p := range r.problems {
		words = append(words, p.String())
	}
	if r.more > 0 {
		words = append(words, fmt.Sprintf("and %d more", r.more))
	}
	if len(words) == 1 {
		return invalidConfig(": %s", words[0]).With("problems", words)
	}
	return invalidConfig(" has %d problems", len(r.problems)+r.more).With("problems", words)
}

// value is a value of the document with its position.
type value struct {
	// path is the full key, joined by dots.
	path string
	// line is its own line, not that of an alias's target.
	line int
	node *yaml.Node
}

func valueOf(n *yaml.Node, path string) value {
	v := value{path: path, line: n.Line, node: n}
	if n.Kind == yaml.AliasNode {
		v.node = n.Alias // The target is not an alias itself.
	}
	return v
}

// empty reports whether the key has no value.
func (v value) empty() bool {
	return v.node.Kind == yaml.ScalarNode && v.node.ShortTag() == "!!null"
}

// isText reports whether the value is text, and not a number or a YAML keyword.
func (v value) isText() bool {
	return v.node.Kind == yaml.ScalarNode && v.node.ShortTag() == "!!str"
}

// String returns a description of the value for a message.
func (v value) String() string {
	switch {
	case v.empty():
		return "empty"
	case v.node.Kind == yaml.MappingNode:
		return "a mapping"
	case v.node.Kind == yaml.SequenceNode:
		return "a list"
	case v.isText():
		return strconv.Quote(textutil.Clip(v.node.Value, maxShown))
	}
	return textutil.Clip(v.node.Value, maxShown)
}

// maxShown limits a text in a message, in code points.
const maxShown = 64

// expected reports an invalid value.
func (r *reader) expected(v value, format string, args ...any) {
	name := v.path
	if name == "" {
		name = "the file"
	}
	r.addProblem(v.line, "%s is %s; it must be %s", name, v, fmt.Sprintf(format, args...))
}

// fields maps each key of a mapping to its reader.
type fields map[string]func(value)

// mapping reads a mapping with known keys. It may be empty.
func (r *reader) mapping(v value, known fields) {
	if v.empty() {
		return
	}
	if v.node.Kind != yaml.MappingNode {
		r.expected(v, "a mapping of keys")
		return
	}
	first := make(map[string]int)
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		key, content := valueOf(v.node.Content[i], ""), v.node.Content[i+1]
		if key.node.Kind != yaml.ScalarNode {
			r.addProblem(key.line, "a key is %s; it must be a word", key)
			continue
		}
		name := key.node.Value
		path := join(v.path, name)
		if line, twice := first[name]; twice {
			r.addProblem(key.line, "%s is already defined in line %d", path, line)
			continue
		}
		first[name] = key.line
		if read, ok := known[name]; ok {
			read(valueOf(content, path))
			continue
		}
		text := "unknown key " + path
		if near := textutil.Nearest(name, slices.Sorted(maps.Keys(known))); near != "" {
			text += "; did you mean " + join(v.path, near) + "?"
		}
		r.addProblem(key.line, "%s", text)
	}
}

// join appends a key to the path of its parent. An unprintable key is quoted.
func join(path, name string) string {
	shown := textutil.Clip(name, maxShown)
	if name == "" || strings.ContainsFunc(shown, func(c rune) bool { return c <= ' ' || !strconv.IsPrint(c) }) {
		shown = strconv.Quote(shown)
	}
	if path == "" {
		return shown
	}
	return path + "." + shown
}

// list reads a list with at most most entries.
func (r *reader) list(v value, most int, entry func(value)) {
	switch {
	case v.node.Kind != yaml.SequenceNode:
		r.expected(v, "a list")
	case len(v.node.Content) > most:
		r.addProblem(v.line, "%s has more than %d entries", v.path, most)
	default:
		for _, n := range v.node.Content {
			entry(valueOf(n, v.path))
		}
	}
}

// integer reads a decimal integer.
func (r *reader) integer(v value, least, most int) int {
	n, err := strconv.Atoi(v.node.Value)
	// Accept only one spelling: YAML reads 010 as 8.
	plain := v.node.Kind == yaml.ScalarNode && v.node.ShortTag() == "!!int" && err == nil && strconv.Itoa(n) == v.node.Value
	if !plain || n < least || n > most {
		r.expected(v, "a whole number from %d to %d", least, most)
	}
	return n
}

func (r *reader) text(v value) string {
	if !v.isText() {
		r.expected(v, "text; quote it if it is meant so")
	}
	return v.node.Value
}

func (r *reader) boolean(v value) bool {
	if v.node.Kind != yaml.ScalarNode || v.node.ShortTag() != "!!bool" {
		r.expected(v, "true or false")
	}
	return v.node.Value == "true"
}

// oneOf reads one of the given words.
func (r *reader) oneOf(v value, words ...string) string {
	if !v.isText() || !slices.Contains(words, v.node.Value) {
		r.expected(v, "%s", strings.Join(words, " or "))
	}
	return v.node.Value
}
