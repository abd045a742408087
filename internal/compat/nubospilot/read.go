package nubospilot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// The names in the directory.
const (
	configFile     = "config.json"
	checkpointsDir = "checkpoints"
)

// The limits of one file and of all files together, in bytes, and of the number of files.
const (
	maxFile  = 1 << 20
	maxTotal = 256 << 20
	maxFiles = 10_000
)

// Read reads the directory dir, which is usually named Folder. It does not follow links. It lists
// unusable files in Left.
//
// # Errors
//
// import-unreadable and import-nothing. If ctx is done, its cause.
func Read(ctx context.Context, dir string) (Import, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Import{}, errUnreadable(dir, err)
	}
	defer root.Close()
	names, err := list(root, ".")
	if err != nil {
		return Import{}, errUnreadable(dir, err)
	}
	if !slices.Contains(names, configFile) && !slices.Contains(names, checkpointsDir) {
		return Import{}, errs.New(errs.ImportNothing, "%s holds neither %s nor %s", dir, configFile, checkpointsDir).With("path", dir)
	}
	r := &reader{root: root, left: maxTotal}
	if slices.Contains(names, configFile) {
		r.settings()
	}
	if slices.Contains(names, checkpointsDir) {
		if err := r.checkpoints(ctx); err != nil {
			return Import{}, err
		}
	}
	if others := slices.DeleteFunc(names, func(n string) bool { return n == configFile || n == checkpointsDir }); len(others) > 0 {
		r.leave(listSome(others), "only %s and %s are read", configFile, checkpointsDir)
	}
	return r.result, nil
}

// reader reads one directory.
type reader struct {
	root   *os.Root
	result Import
	// left is the number of bytes that may still be read.
	left int64
}

// leave adds an entry to Left.
func (r *reader) leave(what, format string, args ...any) {
	r.result.Left = append(r.result.Left, Left{What: what, Why: fmt.Sprintf(format, args...)})
}

// checkpoints reads all checkpoints.
func (r *reader) checkpoints(ctx context.Context) error {
	names, err := list(r.root, checkpointsDir)
	if err != nil {
		r.leave(checkpointsDir, "it cannot be listed: %s", safefile.Reason(err))
		return nil
	}
	keys := make(map[string]bool)
	isTask := regexp.MustCompile(`^M\d{3,}-S\d{3,}-T\d{4,}\.json$`).MatchString
	for _, name := range names {
		if ctx.Err() != nil {
			return fmt.Errorf("read %s: %w", checkpointsDir, context.Cause(ctx))
		}
		if !isTask(name) {
			continue
		}
		data, err := r.file(path.Join(checkpointsDir, name))
		if err == nil {
			var t Task
			if t, err = parse(strings.TrimSuffix(name, ".json"), data, keys); err == nil {
				r.result.Tasks = append(r.result.Tasks, t)
				continue
			}
		}
		r.leave(path.Join(checkpointsDir, clip(name)), "%s", clip(safefile.Reason(err).Error()))
	}
	if others := slices.DeleteFunc(names, isTask); len(others) > 0 {
		r.leave(checkpointsDir+": "+listSome(others), "they are not checkpoints")
	}
	if len(keys) > 0 {
		r.leave(checkpointsDir+": "+listSome(slices.Sorted(maps.Keys(keys))), "these keys are not taken over: verify, audit and review again; the critic asks its questions again")
	}
	return nil
}

// file returns the content of a regular file.
func (r *reader) file(name string) ([]byte, error) {
	data, err := safefile.ReadFile(r.root, name, min(maxFile, r.left))
	r.left -= int64(len(data))
	return data, err
}

// list returns the names in a directory in byte order.
func list(root *os.Root, dir string) ([]string, error) {
	info, err := root.Lstat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, safefile.ErrNotFolder
	}
	f, err := root.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(maxFiles + 1)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, err
	case len(names) > maxFiles:
		return nil, fmt.Errorf("it has more than %d files", maxFiles)
	}
	slices.Sort(names)
	return names, nil
}

func errUnreadable(dir string, err error) error {
	return errs.New(errs.ImportUnreadable, "%s: %w", dir, safefile.Reason(err)).With("path", dir)
}

// The limits of foreign texts in messages: of a text in code points, and of a list.
const (
	maxShown = 160
	maxNamed = 20
)

func clip(text string) string {
	return textutil.Clip(strings.ToValidUTF8(text, "\uFFFD"), maxShown)
}

// listSome returns the first names of a list.
func listSome(names []string) string {
	names = slices.Clone(names)
	for i, n := range names {
		names[i] = clip(n)
	}
	return textutil.List(names, maxNamed)
}
