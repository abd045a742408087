package project

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// StateMDFile lists the stuck tasks for people. The path is relative to the root.
const StateMDFile = StateDir + "/STATE.md"

const maxStateMD = 4 << 20 // bytes

// UpdateStateMD writes a task's block into STATE.md, or removes it if text is "". The
// file exists as long as it has a block. Other content is dropped.
//
// Text that could end a block or control a terminal is removed. The file is replaced
// atomically, and only if it changes. The caller must prevent concurrent updates.
//
// # Errors
//
// marker-unsafe and marker-unwritable. The file is unchanged then.
func (p Project) UpdateStateMD(id, text string) error {
	// Only a task id is safe in a comment.
	if task.CheckID(id) != nil {
		return stateMDUnsafe("%q is not a task id", textutil.Clip(id, maxShown))
	}
	state, err := safefile.OpenState(p.State())
	if err != nil {
		return stateMDError(err)
	}
	defer state.Close()
	name := path.Base(StateMDFile)
	old, err := readStateMD(state, name)
	if err != nil {
		return stateMDError(err)
	}
	marks := parseStateMD(string(old))
	delete(marks, id)
	if text != "" {
		marks[id] = sanitizeBlock(text)
	}
	changed := marks.String()
	switch {
	case changed == string(old):
		return nil
	case changed == "":
		err = errors.Join(state.Remove(name), safefile.SyncDir(state, "."))
	case len(changed) > maxStateMD:
		err = safefile.TooLargeError{Limit: maxStateMD}
	default:
		err = safefile.Replace(state, name, []byte(changed), 0o600)
	}
	if err != nil {
		return stateMDError(err)
	}
	return nil
}

// readStateMD returns the file's content, or nil if it does not exist.
func readStateMD(state *os.Root, name string) ([]byte, error) {
	text, err := safefile.ReadFile(state, name, maxStateMD)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

func stateMDUnsafe(format string, args ...any) error {
	return errs.New(errs.MarkerUnsafe, StateMDFile+": "+format, args...).With("path", StateMDFile)
}

func stateMDError(err error) error {
	if safefile.Unsafe(err) {
		return stateMDUnsafe("%w", err)
	}
	return errs.New(errs.MarkerUnwritable, "%s: %w", StateMDFile, safefile.Reason(err)).With("path", StateMDFile)
}

// taskBlocks has the texts of STATE.md by the ids of stuck tasks. Each task has a block of
// lines, and the blocks are ordered by task:
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

// parseStateMD reads the complete blocks of a text and ignores all other lines.
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

// sanitizeBlock removes all parts of a text that could end a block or a comment, control a
// terminal, or hide words. Lines end in "\n", except for the last one.
func sanitizeBlock(text string) string {
	text = textutil.Lines(strings.ReplaceAll(text, "\r\n", "\n"))
	text = strings.ReplaceAll(text, "-->", "--&gt;")
	text = strings.ReplaceAll(text, "<!--", "&lt;!--")
	return strings.TrimRight(text, "\n")
}
