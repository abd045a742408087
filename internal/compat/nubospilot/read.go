package nubospilot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// The names in the folder.
const (
	configFile     = "config.json"
	checkpointsDir = "checkpoints"
	suffix         = ".json"
)

// The limits in bytes, of one file and of all together, and on the number of files.
const (
	maxFile  = 1 << 20
	maxTotal = 256 << 20
	maxFiles = 10_000
)

// Read reads the folder dir, which is usually named Folder. It writes nothing and follows
// no links. Unusable files are listed in Left, and the others are still read.
//
// # Errors
//
// import-unreadable and import-nothing; when ctx is done, its cause.
func Read(ctx context.Context, dir string) (Import, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Import{}, unreadable(dir, err)
	}
	defer root.Close()
	names, more, err := list(root, ".")
	if err != nil {
		return Import{}, unreadable(dir, err)
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
	others := slices.DeleteFunc(names, func(n string) bool { return n == configFile || n == checkpointsDir })
	if len(others) > 0 || more {
		r.leave(some(others), "only %s and %s are read", configFile, checkpointsDir)
	}
	return r.result, nil
}

// reader reads one folder.
type reader struct {
	root   *os.Root
	result Import
	// left is the number of bytes that may still be read.
	left int64
	// findings is the number of findings of all tasks.
	findings int
}

// leave lists something that cannot be imported.
func (r *reader) leave(what, format string, args ...any) {
	r.result.Left = append(r.result.Left, Left{What: what, Why: fmt.Sprintf(format, args...)})
}

// checkpoints reads all checkpoints.
func (r *reader) checkpoints(ctx context.Context) error {
	names, more, err := list(r.root, checkpointsDir)
	if err != nil {
		r.leave(checkpointsDir, "it cannot be listed: %s", safefile.Reason(err))
		return nil
	}
	if more {
		r.leave(checkpointsDir, "it has more than %d files; those beyond are not read", maxFiles)
	}
	var others []string
	shared := &shared{}
	for _, name := range names {
		if ctx.Err() != nil {
			return fmt.Errorf("read %s: %w", checkpointsDir, context.Cause(ctx))
		}
		id, ok := strings.CutSuffix(name, suffix)
		if !ok {
			others = append(others, name)
			continue
		}
		file := path.Join(checkpointsDir, clip(name))
		if !taskID().MatchString(id) {
			r.leave(file, "its name is no task id")
			continue
		}
		data, err := r.file(path.Join(checkpointsDir, name))
		if err != nil {
			r.leave(file, "%s", safefile.Reason(err))
			continue
		}
		c := &checkpoint{reader: r, shared: shared, file: file}
		if err := c.parse(id, data); err != nil {
			r.leave(file, "%s", err)
			continue
		}
		r.result.Tasks = append(r.result.Tasks, c.task)
	}
	shared.report(r)
	if len(others) > 0 {
		r.leave(checkpointsDir+": "+some(others), "no checkpoints")
	}
	return nil
}

// file returns the content of a regular file.
func (r *reader) file(name string) ([]byte, error) {
	f, err := safefile.OpenFile(r.root, name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := safefile.ReadAll(f, min(maxFile, r.left))
	r.left -= int64(len(data))
	return data, err
}

// list returns the names in a folder in byte order, up to the limit, and whether there
// are more.
func list(root *os.Root, dir string) (names []string, more bool, err error) {
	info, err := root.Lstat(dir)
	if err != nil {
		return nil, false, err
	}
	if !info.IsDir() {
		return nil, false, errors.New("not a folder")
	}
	f, err := root.Open(dir)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	names, err = f.Readdirnames(maxFiles + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	if more = len(names) > maxFiles; more {
		names = names[:maxFiles]
	}
	slices.Sort(names)
	return names, more, nil
}

func unreadable(dir string, err error) error {
	return errs.New(errs.ImportUnreadable, "%s: %w", dir, safefile.Reason(err)).With("path", dir)
}
