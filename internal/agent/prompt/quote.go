package prompt

import (
	"strings"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// quote writes a foreign text as a JSON string in one line. Invisible characters are
// escaped, so that a person sees everything that the model reads. Invalid UTF-8 becomes
// U+FFFD.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		default:
			show(&b, c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// quoted is quote, but "" for an empty text, so that a template leaves out its section.
func quoted(text string) string {
	if text == "" {
		return ""
	}
	return quote(text)
}

// show writes a character, or its JSON escape if it is invisible.
func show(b *strings.Builder, c rune) {
	if textutil.Hidden(c) {
		b.Write(textutil.AppendJSON(nil, c))
		return
	}
	b.WriteRune(c)
}

// visible reports whether a text is one line without invisible characters.
func visible(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, textutil.Hidden)
}

// list writes each text as an item of a Markdown list.
func list(texts []string) string {
	items := make([]string, len(texts))
	for i, text := range texts {
		items[i] = "- " + quote(text)
	}
	return strings.Join(items, "\n")
}

// answers writes each question and its answer as an item of a Markdown list.
func answers(all []QA) string {
	items := make([]string, len(all))
	for i, qa := range all {
		items[i] = "- question: " + quote(qa.Question) + "; answer: " + quote(qa.Answer)
	}
	return strings.Join(items, "\n")
}

// barred writes foreign lines, each behind a bar.
func barred(text string) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		b.WriteString("| ")
		for _, c := range strings.TrimRight(l, "\r\n") {
			if c == '\t' {
				b.WriteRune(c)
				continue
			}
			show(&b, c)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// modules writes the critic's modules.
func modules(all []Module) string {
	texts := make([]string, len(all))
	for i, m := range all {
		texts[i] = "## Module " + m.Name + "\n\n" + strings.TrimSpace(m.Text)
	}
	return strings.Join(texts, "\n\n")
}
