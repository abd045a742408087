package transcript

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/internal/safefile"
)

const (
	// lockFile is locked while files are removed.
	lockFile = ".lock"
	// maxDraft is the time in which a transcript is written. Older temporary files were left
	// by killed processes.
	maxDraft = time.Hour
)

// prune removes transcripts beyond the limits, oldest first. A file that cannot be removed,
// such as an open one on Windows, stays for the next time.
func prune(ctx context.Context, dir *os.Root, limits Limits) error {
	lock, err := safefile.WaitLock(ctx, dir, lockFile)
	if err != nil {
		return err
	}
	defer lock.Release()
	entries, err := fs.ReadDir(dir.FS(), ".")
	if err != nil {
		return err
	}
	now := time.Now() // the clock of files, not of events
	var files []fs.FileInfo
	var total int64
	for _, entry := range entries {
		info, err := entry.Info()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return err
		case strings.HasPrefix(info.Name(), "."):
			if info.Name() != lockFile && now.Sub(info.ModTime()) > maxDraft {
				_ = dir.Remove(info.Name())
			}
		case info.Mode().IsRegular():
			files = append(files, info)
			total += max(info.Size(), MinSize)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	for _, file := range files {
		if total <= limits.Size && now.Sub(file.ModTime()) <= limits.Age {
			break
		}
		if dir.Remove(file.Name()) == nil {
			total -= max(file.Size(), MinSize)
		}
	}
	return nil
}
