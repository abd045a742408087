package adr

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// maxTitle is the longest title, in code points.
const maxTitle = 200

// Parse parses a record. file is the path used in errors and the record.
//
// # Errors
//
// adr-invalid if text is not a record: a name other than NNNN-slug.md, no front matter,
// keys that are unknown, missing or duplicate, values of the wrong type or form, several
// documents, no heading, or a heading with another number.
func Parse(file string, text []byte) (Record, error) {
	r, _, err := parse(file, text)
	return r, err
}

// page is a record's text, split into its parts.
type page struct {
	front *yaml.Node // the mapping
	body  []byte     // everything after the front matter
	end   string     // the line ending of the front matter
}

func parse(file string, text []byte) (Record, page, error) {
	r := Record{File: file, Waives: []Waive{}}
	base, ok := number(path.Base(file))
	if !ok {
		return Record{}, page{}, invalid(file, 0, "a decision record is called NNNN-title.md, with a number from 0001")
	}
	r.Number, r.Name = base, Name(base)
	if !utf8.Valid(text) {
		return Record{}, page{}, invalid(file, 0, "it is not UTF-8")
	}
	p, err := cut(file, text)
	if err != nil {
		return Record{}, page{}, err
	}
	in := &reader{file: file}
	in.record(p.front, &r)
	if in.err != nil {
		return Record{}, page{}, in.err
	}
	if r.Title, err = title(file, r.Name, text, p.body); err != nil {
		return Record{}, page{}, err
	}
	return r, p, nil
}

const fileName = `^([0-9]{4})-[^/\\]+\.md$`

// number returns the number at the beginning of a record's file name.
func number(base string) (int, bool) {
	found := regexp.MustCompile(fileName).FindStringSubmatch(base)
	if found == nil {
		return 0, false
	}
	n, err := strconv.Atoi(found[1])
	return n, err == nil && n > 0
}

// fence is the line before and after a front matter.
const fence = "---"

// cut splits the front matter from the body. The text for the YAML parser begins with the
// file's first line, so that its line numbers are those of the file.
func cut(file string, text []byte) (page, error) {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	if string(bytes.TrimRight(first, " \t\r")) != fence {
		return page{}, invalid(file, 1, "it has no front matter: its first line is not %s", fence)
	}
	at, end := 0, "\n"
	if bytes.HasSuffix(first, []byte("\r")) {
		end = "\r\n"
	}
	for line := range bytes.Lines(text) {
		if at > 0 && string(bytes.TrimRight(line, " \t\r\n")) == fence {
			front, err := document(file, text[:at])
			return page{front: front, body: text[at+len(line):], end: end}, err
		}
		at += len(line)
	}
	return page{}, invalid(file, 1, "its front matter has no end: no second line of %s", fence)
}

// oddBreaks are line breaks in YAML 1.1, but neither in YAML 1.2 nor in editors.
const oddBreaks = "\u0085\u2028\u2029"

// document parses a front matter, which must be one mapping.
func document(file string, front []byte) (*yaml.Node, error) {
	if at := bytes.IndexAny(front, oddBreaks); at >= 0 {
		return nil, invalid(file, 1+bytes.Count(front[:at], []byte("\n")), "its front matter has a character that ends a line for only some readers")
	}
	if line, problem := textutil.YAMLSyntax(front); problem != "" {
		return nil, invalid(file, line, "its front matter is not valid YAML: %s", problem)
	}
	var found, more yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(front))
	if d.Decode(&found) == nil && d.Decode(&more) == nil {
		return nil, invalid(file, more.Line, "its front matter holds more than one document")
	}
	if len(found.Content) != 1 || found.Content[0].Kind != yaml.MappingNode {
		return nil, invalid(file, 2, "its front matter must be a mapping of keys")
	}
	root := found.Content[0]
	root.HeadComment = strings.Trim(found.HeadComment+"\n"+root.HeadComment, "\n")
	root.FootComment = strings.Trim(root.FootComment+"\n"+found.FootComment, "\n")
	return root, nil
}

// title reads the heading, which is the body's first line that is not blank.
func title(file, name string, text, body []byte) (string, error) {
	line := bytes.Count(text[:len(text)-len(body)], []byte("\n"))
	for at := range bytes.Lines(body) {
		line++
		heading := string(bytes.TrimSpace(at))
		if heading == "" {
			continue
		}
		found, ok := strings.CutPrefix(heading, "# "+name+": ")
		if found = strings.TrimSpace(found); !ok || !isLine(found, maxTitle) {
			return "", invalid(file, line, "below the front matter it must say %q and a title", "# "+name+": ")
		}
		return found, nil
	}
	return "", invalid(file, line, "it has no text below its front matter")
}

// CheckTitle fails unless title can be the title of a record: one line, without
// surrounding white space, of limited length.
func CheckTitle(title string) error {
	if title != strings.TrimSpace(title) || !isLine(title, maxTitle) {
		return fmt.Errorf("%q is not a title: it must be text for one line, of at most %d characters", textutil.Clip(title, maxTitle), maxTitle)
	}
	return nil
}

// isLine reports whether s is one line of text: not blank, not longer than points code
// points, and without invisible characters.
func isLine(s string, points int) bool {
	if strings.TrimSpace(s) == "" || !utf8.ValidString(s) || utf8.RuneCountInString(s) > points {
		return false
	}
	return !strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsPrint(c) })
}

func invalid(file string, line int, format string, args ...any) *errs.Error {
	at := file
	if line > 0 {
		at += ":" + strconv.Itoa(line)
	}
	f := errs.New(errs.ADRInvalid, "%s: "+format, append([]any{at}, args...)...).With("file", file)
	if line > 0 {
		f = f.With("line", line)
	}
	return f
}
