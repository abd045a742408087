package prompt

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// The limits of foreign texts, in bytes. Otherwise a review with many or long findings would make
// every further prompt of its task too large. A list ends after the text that exceeds maxList. A
// user's answer fits into maxQuoted.
const (
	maxQuoted = 64 << 10
	maxList   = 256 << 10
)

// quote returns a foreign text as a JSON string in one line. It escapes invisible characters,
// so that a person sees everything that the model reads. Invalid UTF-8 becomes U+FFFD.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range textutil.FitBytes(text, maxQuoted) {
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

// quoteUnlessEmpty is quote, except that it returns "" for an empty text, so that a template omits its
// section.
func quoteUnlessEmpty(text string) string {
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

// list returns a Markdown list with an item for each text, up to maxList, and then the number of
// the others.
func list(texts []string) string {
	var b strings.Builder
	for i, text := range texts {
		if b.Len() > maxList {
			fmt.Fprintf(&b, "- and %d more\n", len(texts)-i)
			break
		}
		b.WriteString("- " + quote(text) + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// answers returns a Markdown list with an item for each question and its answer.
func answers(all []QA) string {
	items := make([]string, len(all))
	for i, qa := range all {
		items[i] = "- question: " + quote(qa.Question) + "; answer: " + quote(qa.Answer)
	}
	return strings.Join(items, "\n")
}

// withBars returns a foreign text with a bar before each line.
func withBars(text string) string {
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

func modules(all []Module) string {
	texts := make([]string, len(all))
	for i, m := range all {
		texts[i] = "## Module " + m.Name + "\n\n" + strings.TrimSpace(m.Text)
	}
	return strings.Join(texts, "\n\n")
}
