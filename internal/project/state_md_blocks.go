package project

import (
	"maps"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// taskBlocks is what STATE.md says of stuck tasks, by task. Each has a block of lines, in
// the order of the tasks:
//
//	<!-- switchyard:stuck TASK -->
//	what the caller wrote
//	<!-- /switchyard:stuck TASK -->
type taskBlocks map[string]string

// The delimiters of a block, around the task.
const (
	beginning = "<!-- switchyard:stuck "
	ending    = "<!-- /switchyard:stuck "
	closing   = " -->"
)

// parseStateMD reads the whole blocks of a text. All else in it is not ours.
func parseStateMD(text string) taskBlocks {
	found := taskBlocks{}
	task, from, open := "", 0, false
	at := 0
	for line := range strings.Lines(text) {
		bare := strings.TrimSuffix(line, "\n")
		if begun, ok := delimiter(bare, beginning); ok {
			task, from, open = begun, at+len(line), true
		} else if ended, ok := delimiter(bare, ending); ok {
			if open && ended == task {
				found[task] = strings.TrimSuffix(text[from:at], "\n")
			}
			open = false
		}
		at += len(line)
	}
	return found
}

// delimiter returns the task that a line delimits a block of.
func delimiter(line, kind string) (task string, ok bool) {
	task, begins := strings.CutPrefix(line, kind)
	task, ends := strings.CutSuffix(task, closing)
	return task, begins && ends
}

// String is the page's text, "" for a page without blocks.
func (p taskBlocks) String() string {
	var b strings.Builder
	for _, task := range slices.Sorted(maps.Keys(p)) {
		b.WriteString(beginning + task + closing + "\n" + p[task] + "\n" + ending + task + closing + "\n")
	}
	return b.String()
}

// sanitizeBlock takes from a text what would end a block or a comment, make a terminal
// do something, or hide words from a reader. Its lines end in "\n", and the last one
// in nothing.
func sanitizeBlock(text string) string {
	text = textutil.Lines(strings.ReplaceAll(text, "\r\n", "\n"))
	text = strings.ReplaceAll(text, "-->", "--&gt;")
	text = strings.ReplaceAll(text, "<!--", "&lt;!--")
	return strings.TrimRight(text, "\n")
}
