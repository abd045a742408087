package prompt

import (
	"strings"
	"unicode"

	"github.com/switchyard-dev/switchyard/internal/lazy"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// The limits of a commit's message: the subject in code points, the body in bytes.
const (
	maxSubject = 72
	maxBody    = 4 << 10
)

// CommitMessage makes a commit's message from an agent's final message. The subject is the
// first line with a letter or digit of summary, or else of fallback: without Markdown, at most
// 72 code points, cut between words. It is "" only if neither has such a line. The body is the
// rest of summary, at most 4 KiB. It begins with the whole first line if that was cut.
//
// Git does not find a trailer or the end of a message in them. So if trailers are appended
// after an empty line, git finds only these. Lines that look like Switchyard's own trailers
// are dropped.
func CommitMessage(summary, fallback string) (subject, body string) {
	lines := messageLines(summary)
	for i, line := range lines {
		whole := subjectOf(line)
		if subject = clipSubject(whole); subject == "" {
			continue
		}
		lines = lines[i+1:]
		if subject != whole {
			lines = append([]string{whole}, lines...)
		}
		body = neutral(strings.TrimSpace(strings.Join(lines, "\n")))
		return subject, strings.TrimSpace(textutil.ClipBytes(body, maxBody))
	}
	for _, line := range messageLines(fallback) {
		if subject = clipSubject(subjectOf(line)); subject != "" {
			break
		}
	}
	return subject, ""
}

// messageLines returns the lines of a message, without invisible characters and without lines
// that have a meaning to git or Switchyard.
func messageLines(text string) []string {
	lines := []string{""}
	for line := range strings.Lines(strings.ToValidUTF8(text, "\ufffd")) {
		line = strings.TrimRight(strings.Map(toVisible, line), " ")
		bare := strings.TrimLeft(line, " ")
		if strings.HasPrefix(bare, "#") { // A comment to git, and a heading in Markdown.
			bare = strings.TrimLeft(bare, "# ")
			line = bare
		}
		switch {
		case strings.HasPrefix(bare, "```"), strings.HasPrefix(bare, "---"), ownTrailer().MatchString(line):
			// A fence, the end of a message in a patch, or a false trailer.
		case line != "" || lines[len(lines)-1] != "":
			lines = append(lines, neutral(line))
		}
	}
	return lines
}

// toVisible maps white space to a space, and drops invisible characters.
func toVisible(c rune) rune {
	switch {
	case unicode.IsSpace(c):
		return ' '
	case textutil.Hidden(c):
		return -1
	default:
		return c
	}
}

// neutral turns a line that git may take for a trailer into an item of a list.
func neutral(line string) string {
	if trailer().MatchString(line) {
		return "- " + line
	}
	return line
}

// subjectOf returns a line without the marks of Markdown, "" if it has no letter or digit.
func subjectOf(line string) string {
	line = listMark().ReplaceAllString(line, "")
	line = link().ReplaceAllString(line, "$1")
	line = strings.Join(strings.Fields(strings.NewReplacer("**", "", "`", "").Replace(line)), " ")
	for _, mark := range []string{"*", "_"} {
		if strings.HasPrefix(line, mark) && strings.HasSuffix(line, mark) {
			line = strings.Trim(line, mark)
		}
	}
	if !strings.ContainsFunc(line, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }) {
		return ""
	}
	return strings.TrimRight(strings.TrimLeft(line, "#- "), " .,;:")
}

// clipSubject cuts a subject that is too long, between words if it has several.
func clipSubject(line string) string {
	c := []rune(line)
	if len(c) <= maxSubject {
		return line
	}
	head := string(c[:maxSubject])
	if at := strings.LastIndex(string(c[:maxSubject+1]), " "); at > 0 {
		head = head[:at]
	}
	return strings.TrimRight(head, " .,;:")
}

var (
	// ownTrailer matches a trailer of Switchyard, even in a list or a quotation.
	ownTrailer = lazy.Regexp(`(?i)^\W*switchyard-[a-z-]*\s*:`)
	// trailer matches a line that git takes for a trailer at the end of a message.
	trailer  = lazy.Regexp(`^([A-Za-z0-9-]+ *:|\(cherry picked from commit )`)
	listMark = lazy.Regexp(`^(\s*([#>+]+|[-*]|\d+[.)])\s+)+`)
	link     = lazy.Regexp(`\[([^\]]*)\]\([^)]*\)`)
)
