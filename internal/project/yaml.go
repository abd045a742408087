package project

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// reader reads a YAML file and collects all problems, so that a user can fix them at
// once. Its results are valid only if err returns nil.
type reader struct {
	file     string
	code     errs.Code // of its errors
	problems []problem
	// more counts the problems beyond maxProblems.
	more int
}

// problem is an error in a line, which counts from 1.
type problem struct {
	line int
	text string
}

// maxProblems limits the reported problems, because a hostile file could have very many.
const maxProblems = 50

// read parses the file's content and passes its only document, if there is one, to f.
func (r *reader) read(data []byte, f func(root value)) error {
	var document, more yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(data))
	err := d.Decode(&document)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err == nil {
		if err = d.Decode(&more); err == nil {
			r.addProblem(more.Line, "the file has more than one document")
			return r.err()
		}
	}
	if !errors.Is(err, io.EOF) {
		line, problem := textutil.YAMLSyntax(data)
		r.addProblem(line, "%s", problem)
		return r.err()
	}
	for _, root := range document.Content {
		f(value{reader: r}.child(root, ""))
	}
	return nil
}

// describeYAMLError returns an error of decoding in one line.
func describeYAMLError(err error) string {
	text := err.Error()
	if e, ok := errors.AsType[*yaml.TypeError](err); ok {
		text = strings.Join(e.Errors, "; ")
	}
	if before, _, ok := strings.Cut(text, "invalid map key"); ok {
		text = before + "a key is not a word" // The rest is a value in Go syntax.
	}
	return strings.NewReplacer("yaml: ", "", "!!", "", "\n", " ").Replace(text)
}

func (r *reader) invalid(format string, args ...any) *errs.Error {
	return errs.New(r.code, "%s%s", r.file, fmt.Sprintf(format, args...)).With("path", r.file)
}

func (r *reader) addProblem(line int, format string, args ...any) {
	if len(r.problems) == maxProblems {
		r.more++
		return
	}
	r.problems = append(r.problems, problem{line, fmt.Sprintf(format, args...)})
}

func (r *reader) problemCount() int { return len(r.problems) + r.more }

// err returns the problems in the order of their lines, in the detail "problems". A single
// one is also in the message.
func (r *reader) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(r.problems, func(a, b problem) int { return a.line - b.line })
	words := make([]string, 0, len(r.problems)+1)
	for _, p := range r.problems {
		words = append(words, fmt.Sprintf("line %d: %s", p.line, p.text))
	}
	if r.more > 0 {
		words = append(words, fmt.Sprintf("and %d more", r.more))
	}
	if len(words) == 1 {
		return r.invalid(": %s", words[0]).With("problems", words)
	}
	return r.invalid(" has %d problems", r.problemCount()).With("problems", words)
}

// value is a value of the document with its position.
type value struct {
	*reader
	// path is the full key, joined by dots.
	path string
	// line is its own line, not the line of an alias's target.
	line int
	node *yaml.Node
}

func (v value) child(n *yaml.Node, path string) value {
	c := value{v.reader, path, n.Line, n}
	if n.Kind == yaml.AliasNode {
		c.node = n.Alias // The target is not an alias itself.
	}
	return c
}

// isScalar reports whether the value is a scalar of the given type.
func (v value) isScalar(tag string) bool {
	return v.node.Kind == yaml.ScalarNode && v.node.ShortTag() == tag
}

// isEmpty reports whether the key has no value.
func (v value) isEmpty() bool { return v.isScalar("!!null") }

// isText reports whether the value is text, and not a number or a YAML keyword.
func (v value) isText() bool { return v.isScalar("!!str") }

// String returns a description of the value for a message.
func (v value) String() string {
	switch {
	case v.isEmpty():
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

// fail reports a problem. The text follows the value's path.
func (v value) fail(format string, args ...any) {
	v.addProblem(v.line, "%s%s", v.path, fmt.Sprintf(format, args...))
}

func (v value) expected(format string, args ...any) {
	if v.path == "" {
		v.path = "the file"
	}
	v.fail(" is %s; it must be %s", v, fmt.Sprintf(format, args...))
}

// fields maps each key of a mapping to its reader.
type fields map[string]func(value)

// mapping reads a mapping with known keys, which may be empty. ok is false if there was a
// problem.
func (v value) mapping(known fields) (ok bool) {
	return v.entries(func(key, content value) {
		name := key.node.Value
		if read, ok := known[name]; ok {
			read(content)
			return
		}
		text := "unknown key " + content.path
		if near := textutil.Nearest(name, slices.Sorted(maps.Keys(known))); near != "" {
			text += "; did you mean " + join(v.path, near) + "?"
		}
		v.addProblem(key.line, "%s", text)
	})
}

// entries reads a mapping with any keys, which may be empty. ok is false if there was a
// problem.
func (v value) entries(read func(key, content value)) (ok bool) {
	before := v.problemCount()
	first := make(map[string]int)
	switch {
	case v.isEmpty():
	case v.node.Kind != yaml.MappingNode:
		v.expected("a mapping of keys")
	default:
		for pair := range slices.Chunk(v.node.Content, 2) {
			key := v.child(pair[0], v.path)
			if key.node.Kind != yaml.ScalarNode {
				v.addProblem(key.line, "a key is %s; it must be a word", key)
				continue
			}
			name := key.node.Value
			content := v.child(pair[1], join(v.path, name))
			if line, twice := first[name]; twice {
				v.addProblem(key.line, "%s is already defined in line %d", content.path, line)
				continue
			}
			first[name] = key.line
			read(key, content)
		}
	}
	return v.problemCount() == before
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
func (v value) list(most int, entry func(value)) {
	switch {
	case v.node.Kind != yaml.SequenceNode:
		v.expected("a list")
	case len(v.node.Content) > most:
		v.fail(" has more than %d entries", most)
	default:
		for _, n := range v.node.Content {
			entry(v.child(n, v.path))
		}
	}
}

func (v value) integer(least, most int) int {
	n, err := strconv.Atoi(v.node.Value)
	// Accept only one spelling: YAML reads 010 as 8.
	if !v.isScalar("!!int") || err != nil || strconv.Itoa(n) != v.node.Value || n < least || n > most {
		v.expected("a whole number from %d to %d", least, most)
	}
	return n
}

// text reads a text without zero bytes.
func (v value) text() string {
	if !v.isText() {
		v.expected("text; quote it if it is meant so")
	} else if strings.ContainsRune(v.node.Value, 0) {
		v.fail(" has a zero byte")
	}
	return v.node.Value
}

// textOf reads a text that names what, and so is not blank.
func (v value) textOf(what string) string {
	text := v.text()
	if v.isText() && strings.TrimSpace(text) == "" {
		v.expected("%s", what)
	}
	return text
}

func (v value) oneOf(words ...string) string {
	if !v.isText() || !slices.Contains(words, v.node.Value) {
		v.expected("%s", strings.Join(words, " or "))
	}
	return v.node.Value
}

// word reads a text that matches a pattern; rule describes the pattern in words.
func (v value) word(pattern, rule string) string {
	if !v.isText() || !regexp.MustCompile(pattern).MatchString(v.node.Value) {
		v.expected("%s", rule)
	}
	return v.node.Value
}

// words reads a list of different words, which may be empty.
func (v value) words(pattern, rule string) []string {
	words := []string{}
	v.list(maxAgents, func(v value) {
		word := v.word(pattern, "names of "+rule)
		if slices.Contains(words, word) {
			v.fail(" has %s twice", word)
		}
		words = append(words, word)
	})
	return words
}

// duration reads a time with its unit. allowed describes the range in words.
func (v value) duration(least, most time.Duration, allowed string) time.Duration {
	d, err := time.ParseDuration(v.node.Value)
	if !v.isText() || err != nil || d < least || d > most {
		v.expected("%s", allowed)
	}
	return d
}

func (v value) localPath() string {
	path := v.text()
	if v.isText() && !filepath.IsLocal(path) {
		v.fail(": %s is not in the project", v)
	}
	return path
}

func (v value) localPaths() []string {
	var paths []string
	v.list(maxModules, func(v value) { paths = append(paths, filepath.Clean(v.localPath())) })
	return paths
}
