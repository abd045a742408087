package project

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"regexp"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// MarkerFile is where people read which tasks are stuck, relative to the project's
// root.
const MarkerFile = StateDir + "/STATE.md"

// maxMarker is the largest STATE.md, in bytes, with its blocks.
const maxMarker = 4 << 20

// Mark puts the task's block into STATE.md, or replaces the one that is there; text
// "" removes it. The file is there as long as it has a block; it is ours as a whole,
// and keeps nothing that others write into it.
//
// The text loses what could end a block and what a terminal would obey. The file is
// replaced all at once; if nothing changes, nothing is written. The caller makes
// sure that one process does so at a time.
//
// # Errors
//
// marker-unsafe and marker-unwritable. The file is as it was then.
func (p Project) Mark(task, text string) error {
	// The rule of task ids (design section 5): nothing else may stand in a comment.
	if !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`).MatchString(task) {
		return markerUnsafe("%q is no task id", textutil.Clip(task, maxShown))
	}
	state, err := safefile.OpenState(p.State())
	if err != nil {
		return markerFault(err)
	}
	defer state.Close()
	name := path.Base(MarkerFile)
	old, err := readMarker(state, name)
	if err != nil {
		return markerFault(err)
	}
	marks := parsePage(string(old))
	delete(marks, task)
	if text != "" {
		marks[task] = harmless(text)
	}
	changed := marks.String()
	switch {
	case changed == string(old):
		return nil
	case changed == "":
		err = errors.Join(state.Remove(name), safefile.SyncDir(state, "."))
	case len(changed) > maxMarker:
		err = safefile.TooLargeError{Limit: maxMarker}
	default:
		err = safefile.Replace(state, name, []byte(changed), 0o600)
	}
	if err != nil {
		return markerFault(err)
	}
	return nil
}

// readMarker returns the file's content, nothing if there is none.
func readMarker(state *os.Root, name string) ([]byte, error) {
	f, err := safefile.OpenFile(state, name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return safefile.ReadAll(f, maxMarker)
}

func markerUnsafe(format string, args ...any) error {
	return errs.New(errs.MarkerUnsafe, MarkerFile+": "+format, args...).With("path", MarkerFile)
}

// markerFault gives an error of STATE.md its code.
func markerFault(err error) error {
	if safefile.Unsafe(err) {
		return markerUnsafe("%w", err)
	}
	return errs.New(errs.MarkerUnwritable, "%s: %w", MarkerFile, safefile.Reason(err)).With("path", MarkerFile)
}
