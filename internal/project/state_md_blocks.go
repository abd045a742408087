package project

import (
	"maps"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// taskBlocks is the content of STATE.md, by stuck task. Each task has a block of lines;
// blocks are ordered by task:
//
//	<!-- switchyard:stuck TASK -->
//	the caller's text
//	<!-- /switchyard:stuck TASK -->
type taskBlocks map[string]string

// The delimiters of a block, around the task.
const (
	beginning = "<!-- switchyard:stuck "
	ending    = "<!-- /switchyard:stuck "
	closing   = " -->"
)

// parseStateMD reads the complete blocks of a text and ignores everything else.
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

// delimiter returns the task of a delimiter line.
func delimiter(line, kind string) (task string, ok bool) {
	task, begins := strings.CutPrefix(line, kind)
	task, ends := strings.CutSuffix(task, closing)
	return task, begins && ends
}

// String returns the text of the file, "" without blocks.
func (p taskBlocks) String() string {
	var b strings.Builder
	for _, task := range slices.Sorted(maps.Keys(p)) {
		b.WriteString(beginning + task + closing + "\n" + p[task] + "\n" + ending + task + closing + "\n")
	}
	return b.String()
}

// sanitizeBlock removes from a text everything that could end a block or a comment,
// control a terminal, or hide words. Lines end in "\n", except for the last one.
func sanitizeBlock(text string) string {
	text = textutil.Lines(strings.ReplaceAll(text, "\r\n", "\n"))
	text = strings.ReplaceAll(text, "-->", "--&gt;")
	text = strings.ReplaceAll(text, "<!--", "&lt;!--")
	return strings.TrimRight(text, "\n")
}
