package verifycmd

import (
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

// Folder is the directory of the outputs in the state directory, which is stateDir.
const Folder, stateDir = "verify", ".switchyard"

// logFile is the output file of a verification. It is open for appending and reading, so
// that another file with its name is never read.
type logFile struct {
	*os.File
	path string // below the project's root, with slashes
}

func (l logFile) failed(err error) error {
	return errs.New(errs.VerifyOutputFailed, "the output of the verification cannot be created, written or read: %w", err).With("path", l.path)
}

// createLog creates the output file, readable only by its owner. It removes an existing file
// with this name. The directories in its path must not be symbolic links, which the
// repository may contain: the output would be written to another place.
func createLog(p Plan) (logFile, error) {
	name := fmt.Sprintf("%s-r%d.log", p.Task, p.Round)
	l := logFile{path: path.Join(stateDir, Folder, name)}
	at := filepath.Join(p.Root, stateDir)
	state, err := safefile.OpenState(at)
	if err != nil {
		return l, l.dirError(at, err)
	}
	defer state.Close()
	dir, err := safefile.MakeDirIn(state, Folder)
	if err != nil {
		return l, l.dirError(filepath.Join(at, Folder), err)
	}
	defer dir.Close()
	if err := dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return l, l.failed(err)
	}
	// O_EXCL does not follow a link that was created meanwhile.
	if l.File, err = dir.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return l, l.failed(err)
	}
	return l, nil
}

func (l logFile) dirError(at string, err error) error {
	if safefile.Unsafe(err) {
		return errs.New(errs.VerifyOutputUnsafe, "%s cannot be used: %w", at, err).With("path", at)
	}
	return l.failed(err)
}

// begin prepares the file for a run, and returns its size. If there are several runs, it
// writes a header line.
func (l logFile) begin(n, of int) (int64, error) {
	size, err := l.size()
	if err != nil || of == 1 {
		return size, err
	}
	line := fmt.Sprintf("== run %d of %d ==\n", n, of)
	if size > 0 {
		last := make([]byte, 1)
		if _, err := l.ReadAt(last, size-1); err != nil {
			return 0, err
		}
		if last[0] != '\n' {
			line = "\n" + line
		}
	}
	written, err := l.WriteString(line)
	return size + int64(written), err
}

func (l logFile) size() (int64, error) {
	info, err := l.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// describe sets the size, the digest and the excerpt of the output.
func (l logFile) describe(o *Outcome) (err error) {
	if o.OutputBytes, err = l.size(); err != nil {
		return err
	}
	if o.Excerpt, err = Excerpt(l, o.OutputBytes); err != nil {
		return err
	}
	hash := sha256.New()
	n, err := io.Copy(hash, io.NewSectionReader(l, 0, o.OutputBytes))
	if err == nil && n < o.OutputBytes {
		err = io.ErrUnexpectedEOF
	}
	o.OutputDigest = digest.OfHash(hash)
	return err
}
