package project

import (
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/host/safetext"
)

// page is the text of STATE.md, and whether there is such a file.
//
// A block is these lines, alone in theirs:
//
//	<!-- switchyard:stuck TASK -->
//	what the caller wrote
//	<!-- /switchyard:stuck TASK -->
//
// How it ends tells what was there before it, so that removing it can give that
// back: a block with a line end after it came to the end of a line, and one without
// came to a text that lacks its last line end, or made the file.
type page struct {
	text   string
	exists bool
}

// The delimiters of a block, around the task.
const (
	beginning = "<!-- switchyard:stuck "
	ending    = "<!-- /switchyard:stuck "
	closing   = " -->"
)

// block is where a block stands in a text.
type block struct {
	task string
	// begin and end are those of all of it, without the line end after it.
	begin, end int
	// eol is the line end after its first line.
	eol string
}

// blocks finds the whole blocks of a text. A beginning that another delimiter
// follows before its own ending is none.
func blocks(text string) []block {
	var found []block
	var open *block
	for at := 0; at < len(text); {
		line, eol := firstLine(text[at:])
		if task, ok := delimiter(line, beginning); ok {
			open = &block{task: task, begin: at, eol: eol}
		} else if task, ok := delimiter(line, ending); ok {
			if open != nil && open.task == task {
				open.end = at + len(line)
				found = append(found, *open)
			}
			open = nil
		}
		at += len(line) + len(eol)
	}
	return found
}

// firstLine returns the first line of a text without its end, and its end.
func firstLine(text string) (line, eol string) {
	line, _, ended := strings.Cut(text, "\n")
	switch {
	case !ended:
		return line, ""
	case strings.HasSuffix(line, "\r"):
		return line[:len(line)-1], "\r\n"
	}
	return line, "\n"
}

// delimiter returns the task that a line delimits a block of.
func delimiter(line, kind string) (task string, ok bool) {
	task, begins := strings.CutPrefix(line, kind)
	task, ends := strings.CutSuffix(task, closing)
	return task, begins && ends
}

// marked returns the page with the task's block, and that one alone.
func (p page) marked(task, text string) page {
	own := p.of(task)
	if len(own) == 0 {
		return p.appended(task, text)
	}
	for _, b := range slices.Backward(own[1:]) {
		p = p.without(b)
	}
	first := own[0]
	p.text = p.text[:first.begin] + compose(task, text, first.eol) + p.text[first.end:]
	return p
}

// unmarked returns the page without the task's blocks.
func (p page) unmarked(task string) page {
	for _, b := range slices.Backward(p.of(task)) {
		p = p.without(b)
	}
	return p
}

func (p page) of(task string) []block {
	return slices.DeleteFunc(blocks(p.text), func(b block) bool { return b.task != task })
}

// appended returns the page with a new block at its end.
func (p page) appended(task, text string) page {
	eol := p.eol()
	added := compose(task, text, eol)
	switch {
	case p.exists && (p.text == "" || strings.HasSuffix(p.text, "\n")):
		added += eol
	case p.exists:
		added = eol + added
	}
	return page{text: p.text + added, exists: true}
}

// eol is the line end of a new block: that of its neighbour, or else of the text.
func (p page) eol() string {
	if strings.HasSuffix(p.text, "\r") {
		return "\r\n" // With "\n" the text's last byte would be read as part of it.
	}
	if found := blocks(p.text); len(found) > 0 {
		return found[len(found)-1].eol
	}
	if _, eol := firstLine(p.text); eol != "" {
		return eol
	}
	return "\n"
}

// without returns the page without a block and the line end that came with it.
func (p page) without(b block) page {
	before, after := p.text[:b.begin], p.text[b.end:]
	if after == "" {
		before = strings.TrimSuffix(before, b.eol)
	} else {
		_, eol := firstLine(after)
		after = after[len(eol):]
	}
	// A block that had nothing before it and no line end after it made the file.
	exists := before+after != "" || b.begin > 0 || b.end < len(p.text)
	return page{text: before + after, exists: exists}
}

// compose writes a block.
func compose(task, text, eol string) string {
	text = strings.ReplaceAll(harmless(text), "\n", eol)
	return beginning + task + closing + eol + text + eol + ending + task + closing
}

// harmless takes from a text what would end a block or a comment, make a terminal
// do something, or hide words from a reader. Its lines end in "\n", and the last one
// in nothing.
func harmless(text string) string {
	text = safetext.Lines(strings.ReplaceAll(text, "\r\n", "\n"))
	text = strings.ReplaceAll(text, "-->", "--&gt;")
	text = strings.ReplaceAll(text, "<!--", "&lt;!--")
	return strings.TrimRight(text, "\n")
}
