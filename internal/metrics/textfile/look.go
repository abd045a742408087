package textfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/metrics"
)

// maxFile is the largest file that is looked through, in bytes. Ours have a few
// hundred kilobytes.
const maxFile = 16 << 20

// look says whether what is at the file's place is newer than ours. It fails where that
// must not be replaced.
func look(root *os.Root, path, name string, ours state) (newer bool, err error) {
	seen, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, unwritable(path, err)
	}
	if !seen.Mode().IsRegular() {
		return false, refused(path, "it is no regular file")
	}
	if seen.Size() == 0 {
		return false, nil
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // Removed meanwhile.
	}
	if err != nil {
		return false, unwritable(path, err)
	}
	defer f.Close()
	if opened, err := f.Stat(); err != nil || !opened.Mode().IsRegular() {
		return false, refused(path, "it was replaced while it was opened")
	}
	theirs, err := scan(f)
	switch {
	case err != nil:
		return false, refused(path, err.Error())
	case theirs.since.After(ours.since):
		return false, refused(path, "it has the metrics of a younger ledger")
	}
	return theirs.since.Equal(ours.since) && theirs.events > ours.events, nil
}

// scan reads how far a file of ours is; the zero state where it does not say. It fails
// for a file that is not ours.
func scan(r io.Reader) (state, error) {
	var s state
	samples := false
	limited := &io.LimitedReader{R: r, N: maxFile + 1}
	lines := bufio.NewScanner(limited)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if n == 1 {
			if said, ok := parse(line); ok {
				s, samples = said, true
			}
		}
		if comment, ok := strings.CutPrefix(line, "#"); ok {
			words := strings.Fields(comment)
			if len(words) < 2 || words[0] != "HELP" && words[0] != "TYPE" {
				continue
			}
			line = words[1]
		}
		if line == "" {
			continue
		}
		if !strings.HasPrefix(line, metrics.Prefix) {
			return s, fmt.Errorf("it has something else than our metrics, in line %d: %q", n, textutil.Clip(line, 60))
		}
		samples = true
	}
	switch {
	case limited.N == 0:
		return s, errors.New("it is too large to be ours")
	case lines.Err() != nil:
		return s, fmt.Errorf("it cannot be read: %w", lines.Err())
	case !samples:
		return s, errors.New("it has no metrics of ours")
	}
	return s, nil
}
