package prompt

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// template is a text with tags: {{name}} inserts a field, and the text between {{#name}} and
// {{/name}} is omitted if the field is empty. There are no loops and calls, so rendering takes
// linear time.
type template struct {
	// where is the template's name in messages.
	where string
	text  string
}

// values are the fields of a template, ready to be inserted.
type values map[string]string

// token is a tag, or the text between two tags.
type token struct {
	kind kind
	// text is the text, or the name of the tag's field.
	text string
	// line counts from 1.
	line int
}

type kind int

const (
	plain kind = iota
	field
	begin
	end
)

func (t template) tokens() ([]token, error) {
	var all []token
	at := 0
	for rest := range strings.Lines(t.text) {
		at++
		if tag := strings.TrimSpace(rest); isSection(tag) {
			rest = tag // A section tag takes its whole line.
		}
		for {
			before, after, tagged := strings.Cut(rest, "{{")
			if before != "" {
				all = append(all, token{plain, before, at})
			}
			if !tagged {
				break
			}
			tag, following, closed := strings.Cut(after, "}}")
			if !closed {
				return nil, t.invalid(at, "{{ without }} in the same line")
			}
			all = append(all, tagOf(tag, at))
			rest = following
		}
	}
	return all, nil
}

// isSection reports whether a line consists of a section tag.
func isSection(line string) bool {
	return (strings.HasPrefix(line, "{{#") || strings.HasPrefix(line, "{{/")) && strings.Index(line, "}}") == len(line)-len("}}")
}

func tagOf(tag string, at int) token {
	k := field
	switch {
	case strings.HasPrefix(tag, "#"):
		k, tag = begin, tag[1:]
	case strings.HasPrefix(tag, "/"):
		k, tag = end, tag[1:]
	}
	return token{k, strings.TrimSpace(tag), at}
}

type section struct {
	token
	// shown is set if neither this section nor an enclosing one is omitted.
	shown bool
}

// fill inserts the fields. The needed fields must have a tag. It stops after maxPrompt bytes.
func (t template) fill(fields values, needed []string) (string, error) {
	tokens, err := t.tokens()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	open := []section{{shown: true}} // the whole template
	for _, tok := range tokens {
		if _, known := fields[tok.text]; !known && tok.kind != plain {
			return "", t.invalid(tok.line, "there is no field %s; the fields are %s", quote(textutil.Clip(tok.text, maxShown)), strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
		}
		inner := open[len(open)-1]
		text := tok.text
		switch tok.kind {
		case begin:
			open = append(open, section{tok, inner.shown && fields[tok.text] != ""})
			continue
		case end:
			if inner.text != tok.text {
				return "", t.invalid(tok.line, "{{/%s}} ends a section that is not the last one begun", tok.text)
			}
			open = open[:len(open)-1]
			continue
		case field:
			text = fields[tok.text]
			needed = slices.DeleteFunc(slices.Clone(needed), func(name string) bool { return name == tok.text })
		}
		if inner.shown && b.Len() <= maxPrompt {
			b.WriteString(text)
		}
	}
	if last := open[len(open)-1]; len(open) > 1 {
		return "", t.invalid(last.line, "{{#%s}} has no end", last.text)
	}
	if len(needed) > 0 {
		return "", t.invalid(0, "it leaves out {{%s}}", needed[0])
	}
	return b.String(), nil
}

// invalid returns an error for the template, or for one of its lines if line is not 0.
func (t template) invalid(line int, format string, args ...any) *errs.Error {
	where := t.where
	if line > 0 {
		where = fmt.Sprintf("%s: line %d", where, line)
	}
	f := errs.New(errs.PromptTemplateInvalid, "%s: "+format, append([]any{where}, args...)...).With("path", t.where)
	if line > 0 {
		f = f.With("line", line)
	}
	return f
}

// maxShown bounds a wrong name in a message, in code points.
const maxShown = 64
