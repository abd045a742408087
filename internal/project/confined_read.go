package project

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/internal/await"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// Read returns the content of a file that the user named, if it has at most limit bytes.
//
// A path inside the project is opened through the project's root, because an agent may
// have put a symbolic link there, and only regular files are read. A path outside the
// project is trusted.
//
// # Errors
//
// file-not-found, path-escapes-project, file-unreadable, and file-too-large with the limit.
// When ctx is done, its cause, even if a named pipe still blocks.
func (p Project) Read(ctx context.Context, path string, limit int64) ([]byte, error) {
	data, _, err := p.read(ctx, path, limit)
	return data, err
}

// read is Read and also returns the file's info.
func (p Project) read(ctx context.Context, path string, limit int64) ([]byte, fs.FileInfo, error) {
	type content struct {
		data []byte
		info fs.FileInfo
	}
	c, err := readContext(ctx, path, func() (content, error) {
		f, err := onPath(p, path, safefile.Open, os.Open)
		if err != nil {
			return content{}, unusable(path, err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return content{}, unusable(path, err)
		}
		data, err := drain(f, path, limit)
		return content{data, info}, err
	})
	return c.data, c.info, err
}

// ReadAll reads r to its end, at most limit bytes. name is for messages. When ctx is
// done, a blocking reader is abandoned.
func ReadAll(ctx context.Context, r io.Reader, name string, limit int64) ([]byte, error) {
	return readContext(ctx, name, func() ([]byte, error) { return drain(r, name, limit) })
}

func drain(r io.Reader, name string, limit int64) ([]byte, error) {
	data, err := safefile.ReadAll(r, limit)
	if _, ok := errors.AsType[safefile.TooLargeError](err); ok {
		return nil, errs.New(errs.FileTooLarge, "%s is larger than %d bytes", name, limit).With("path", name).With("limit", limit)
	}
	if err != nil {
		return nil, unusable(name, err)
	}
	return data, nil
}

// readContext returns the result of read, or an error once ctx is done.
func readContext[T any](ctx context.Context, name string, read func() (T, error)) (T, error) {
	got, err := await.Result(ctx, read)
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		err = fmt.Errorf("read %s: %w", name, err)
	}
	return got, err
}

// Resolve returns the absolute path of a file or directory that the user named, under the
// same rule as Read. It need not exist.
func (p Project) Resolve(path string) (string, error) {
	if _, err := p.stat(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", unusable(path, err)
	}
	return p.Abs(path), nil
}

// onPath calls inside, with the project's root, for a path in the project, and outside for
// any other path.
func onPath[T any](p Project, path string, inside func(*os.Root, string) (T, error), outside func(string) (T, error)) (T, error) {
	full := p.Abs(path)
	rel, ok := p.inside(full)
	if !ok {
		return outside(full)
	}
	root, err := os.OpenRoot(p.Root)
	if err != nil {
		var none T
		return none, err
	}
	defer root.Close()
	got, err := inside(root, rel)
	return got, safefile.Confined(root, err)
}

func (p Project) stat(path string) (fs.FileInfo, error) {
	return onPath(p, path, (*os.Root).Stat, os.Stat)
}

// Abs returns the absolute path of a path that the user named.
func (p Project) Abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(p.Dir, path)
}

// Rel returns a path relative to the project's root, with slashes, and whether it is
// inside.
func (p Project) Rel(path string) (string, bool) {
	rel, inside := p.inside(p.Abs(path))
	return filepath.ToSlash(rel), inside
}

// inside returns the path relative to the root, and whether it is inside the root: by its
// name, or after symbolic links in both are resolved.
func (p Project) inside(full string) (string, bool) {
	if rel, err := filepath.Rel(p.Root, full); err == nil && filepath.IsLocal(rel) {
		return rel, true
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(full))
	if err != nil {
		return "", false
	}
	root, err := filepath.EvalSymlinks(p.Root)
	if err != nil {
		return "", false
	}
	rel, err := filepath.Rel(root, filepath.Join(dir, filepath.Base(full)))
	return rel, err == nil && filepath.IsLocal(rel)
}

// unusable returns a coded error for a file system error. It shows the path as the user
// wrote it.
func unusable(path string, err error) error {
	var code errs.Code
	switch {
	case errors.Is(err, fs.ErrNotExist):
		code = errs.FileNotFound
	case errors.Is(err, safefile.ErrOutside):
		code = errs.PathEscapesProject
	default:
		code = errs.FileUnreadable
	}
	return errs.New(code, "%s: %w", path, safefile.Reason(err)).With("path", path)
}
