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

// StateMDFile lists the stuck tasks for people. The path is relative to the root.
const StateMDFile = StateDir + "/STATE.md"

// maxStateMD is the maximum size of STATE.md, in bytes.
const maxStateMD = 4 << 20

// UpdateStateMD writes the task's block into STATE.md, or removes it if text is "". The
// file exists as long as it has a block, and other content is dropped.
//
// Text that could end a block or control a terminal is removed. The file is replaced
// atomically, and only if it changes. The caller must prevent concurrent updates.
//
// # Errors
//
// marker-unsafe and marker-unwritable. The file is unchanged then.
func (p Project) UpdateStateMD(task, text string) error {
	// Only a task id is safe in a comment.
	if !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`).MatchString(task) {
		return stateMDUnsafe("%q is no task id", textutil.Clip(task, maxShown))
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
	delete(marks, task)
	if text != "" {
		marks[task] = sanitizeBlock(text)
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
	f, err := safefile.OpenFile(state, name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return safefile.ReadAll(f, maxStateMD)
}

func stateMDUnsafe(format string, args ...any) error {
	return errs.New(errs.MarkerUnsafe, StateMDFile+": "+format, args...).With("path", StateMDFile)
}

// stateMDError returns a coded error about STATE.md.
func stateMDError(err error) error {
	if safefile.Unsafe(err) {
		return stateMDUnsafe("%w", err)
	}
	return errs.New(errs.MarkerUnwritable, "%s: %w", StateMDFile, safefile.Reason(err)).With("path", StateMDFile)
}
