package verifycmd

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// stateDir and verifyDir are the nested folders of the output, below the project's root.
const (
	stateDir  = ".switchyard"
	verifyDir = "verify"
)

// OutputFile names the file for the output of a round's verification:
// .switchyard/verify/TASK-rROUND.log below the project's root, readable only by its
// owner. An existing file with that name is removed, not written into.
type OutputFile struct {
	// Root is the path of the project's root, which must exist.
	Root string
	// Task is the id of the task, and Round its round.
	Task  string
	Round int
}

func (o OutputFile) name() string { return fmt.Sprintf("%s-r%d.log", o.Task, o.Round) }

// path returns the file's path below the root, with slashes.
func (o OutputFile) path() string { return path.Join(stateDir, verifyDir, o.name()) }

func (o OutputFile) failed(err error) error {
	return errs.New(errs.VerifyOutputFailed, "the output of the verification has no place: %w", err).With("path", o.path())
}

// logFile is an output file that is being written.
type logFile struct {
	OutputFile
	file *os.File // for appending and reading
}

// create creates the file. No folder on the way may be a symbolic link, which the
// repository may contain: the output would be written elsewhere.
func (o OutputFile) create() (*logFile, error) {
	name := o.name()
	if o.Task == "" || filepath.Base(name) != name || !filepath.IsLocal(name) {
		return nil, errs.New(errs.VerifyOutputUnsafe, "%q cannot be part of a file's name", o.Task).With("path", o.path())
	}
	at := filepath.Join(o.Root, stateDir)
	state, err := safefile.OpenState(at)
	if err != nil {
		return nil, o.folderError(at, err)
	}
	defer state.Close()
	dir, err := safefile.MakeDirIn(state, verifyDir)
	if err != nil {
		return nil, o.folderError(filepath.Join(at, verifyDir), err)
	}
	defer dir.Close()
	if err := dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, o.failed(err)
	}
	// O_CREATE with O_EXCL does not follow a link that was created meanwhile.
	f, err := dir.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, o.failed(err)
	}
	return &logFile{OutputFile: o, file: f}, nil
}

// folderError returns the error of a folder on the way to the file.
func (o OutputFile) folderError(at string, err error) error {
	if safefile.Unsafe(err) {
		return errs.New(errs.VerifyOutputUnsafe, "%s cannot be used: %w", at, err).With("path", at)
	}
	return o.failed(err)
}

// close closes the file. Its content was read before, so an error does not matter.
func (l *logFile) close() { _ = l.file.Close() }

func (l *logFile) size() (int64, error) {
	info, err := l.file.Stat()
	if err != nil {
		return 0, l.failed(err)
	}
	return info.Size(), nil
}

// truncate cuts a run's output at its limit.
func (l *logFile) truncate(size int64) error {
	if err := l.file.Truncate(size); err != nil {
		return l.failed(err)
	}
	return nil
}

// header writes the header line of a run, at the beginning of a line.
func (l *logFile) header(n, of int) error {
	size, err := l.size()
	if err != nil {
		return err
	}
	line := fmt.Sprintf("== run %d of %d ==\n", n, of)
	if size > 0 {
		last := make([]byte, 1)
		if _, err := l.file.ReadAt(last, size-1); err != nil {
			return l.failed(err)
		}
		if last[0] != '\n' {
			line = "\n" + line
		}
	}
	if _, err := l.file.WriteString(line); err != nil {
		return l.failed(err)
	}
	return nil
}

// evidence is the recorded part of an output.
type evidence struct {
	size    int64
	digest  string
	excerpt string
}

// evidence reads the file that the command wrote to, even if another file has its name
// now.
func (l *logFile) evidence(ctx context.Context) (evidence, error) {
	size, err := l.size()
	if err != nil {
		return evidence{}, err
	}
	excerpt, err := Excerpt(l.file, size)
	if err != nil {
		return evidence{}, l.failed(err)
	}
	hash := sha256.New()
	n, err := io.Copy(hash, contextReader{ctx, io.NewSectionReader(l.file, 0, size)})
	switch {
	case ctx.Err() != nil:
		return evidence{}, fmt.Errorf("read the output of the verification: %w", context.Cause(ctx))
	case err == nil && n < size:
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return evidence{}, l.failed(err)
	}
	return evidence{size, digest.OfHash(hash), excerpt}, nil
}

// contextReader is a reader that fails when its context is done.
type contextReader struct {
	ctx context.Context
	io.Reader
}

func (r contextReader) Read(b []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(b)
}
