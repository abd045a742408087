package project

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"regexp"

	"github.com/switchyard-dev/switchyard/host/fault"
	"github.com/switchyard-dev/switchyard/host/folder"
)

// MarkerFile is where people read where a project stands.
const MarkerFile = "STATE.md"

// The codes of a STATE.md that cannot be marked.
const (
	// CodeMarkerUnsafe: it is no regular file, or the task's name could not
	// stand in it.
	CodeMarkerUnsafe fault.Code = "marker-unsafe"
	// CodeMarkerUnwritable: it cannot be read or written, or is too large.
	CodeMarkerUnwritable fault.Code = "marker-unwritable"
)

// maxMarker is the largest STATE.md, in bytes, with its blocks.
const maxMarker = 4 << 20

// Mark puts the task's block into STATE.md at the project's root, or replaces the
// one that is there; text "" removes it. All other bytes stay as they are: after
// the last block was removed, the file is what it was before the first, and it is
// gone if Mark created it. A block that a user damaged is not ours any more, and
// stays.
//
// The text loses what could end a block and what a terminal would obey. The file is
// replaced all at once and keeps its mode; where nothing changes, nothing is
// written. The caller makes sure that one process does so at a time; what somebody
// else writes to the file in the same moment may be lost.
//
// # Errors
//
// CodeMarkerUnsafe and CodeMarkerUnwritable. The file is as it was then.
func (p Project) Mark(task, text string) error {
	// The rule of task ids (design section 5): nothing else may stand in a comment.
	if !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`).MatchString(task) {
		return markerUnsafe("%q is no task id", fault.Clip(task, maxShown))
	}
	root, err := os.OpenRoot(p.Root)
	if err != nil {
		return markerFault(err)
	}
	defer root.Close()
	old, info, err := readMarker(root)
	if err != nil {
		return err
	}
	found := page{text: string(old), exists: info != nil}
	changed := found.unmarked(task)
	if text != "" {
		changed = found.marked(task, text)
	}
	if changed == found {
		return nil
	}
	if err := changed.write(root, info); err != nil {
		return markerFault(err)
	}
	return nil
}

// write makes the page the file's content. info is what kind of file is there, nil
// where there is none.
func (p page) write(root *os.Root, info fs.FileInfo) error {
	if len(p.text) > maxMarker {
		return errTooLarge
	}
	if info == nil {
		return folder.Create(root, ".", MarkerFile, []byte(p.text), newFile)
	}
	// Replacing a file needs no right to write it. Who made it read-only means it.
	f, err := folder.OpenFile(root, MarkerFile, os.O_RDWR)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if !p.exists {
		return errors.Join(root.Remove(MarkerFile), folder.Flush(root, "."))
	}
	return folder.ReplaceLike(root, MarkerFile, []byte(p.text), info)
}

// readMarker returns the file's content and what kind of file it is, nil where
// there is none.
func readMarker(root *os.Root) ([]byte, fs.FileInfo, error) {
	f, err := folder.OpenFile(root, MarkerFile, os.O_RDONLY)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil
	case err != nil:
		return nil, nil, markerFault(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, markerFault(err)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxMarker+1))
	if err == nil && len(data) > maxMarker {
		err = errTooLarge
	}
	if err != nil {
		return nil, nil, markerFault(err)
	}
	return data, info, nil
}

var errTooLarge = errors.New("larger than 4 MiB")

func markerUnsafe(format string, args ...any) error {
	return fault.New(CodeMarkerUnsafe, MarkerFile+": "+format, args...).With("path", MarkerFile)
}

// markerFault gives an error of STATE.md its code.
func markerFault(err error) error {
	if errors.Is(err, folder.ErrNoFile) || errors.Is(err, folder.ErrReplaced) {
		return markerUnsafe("%w", err)
	}
	return fault.New(CodeMarkerUnwritable, "%s: %w", MarkerFile, folder.Reason(err)).With("path", MarkerFile)
}
