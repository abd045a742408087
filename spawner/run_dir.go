package spawner

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/lease"
	"github.com/switchyard-dev/switchyard/internal/retry"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// The contents of a runDir.
const (
	promptFile   = "prompt" // standard input
	stdoutFile   = "stdout"
	stderrFile   = "stderr"
	stateFolder  = "state" // the CLI's settings and sessions
	tempFolder   = "tmp"   // its TMPDIR
	reportFolder = "report"
	// The final message, if the CLI writes it to a file.
	finalFile = stateFolder + "/final-message"
)

// runDir is the private directory of one attempt. It is removed at the end of the attempt.
type runDir struct {
	path string
	root *os.Root
}

// newRunDirPath returns the path of a runDir that does not exist yet. The name cannot be
// guessed, and is short: agents create sockets below it, and the path of a socket is limited
// to some 100 bytes.
func newRunDirPath(temp string) (string, error) {
	// The temporary directory may be behind a link. The agent should get the same path that it
	// reports later.
	resolved, err := filepath.EvalSymlinks(temp)
	if err != nil {
		return "", err
	}
	return filepath.Abs(filepath.Join(resolved, lease.PrivateName(rand.Uint64())))
}

// newRunDir creates a private directory. The caller must remove it.
func newRunDir(path string) (*runDir, error) {
	if err := os.Mkdir(path, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(path))
	}
	d := &runDir{path: path, root: root}
	for _, name := range []string{stateFolder, tempFolder, reportFolder} {
		if err := root.Mkdir(name, 0o700); err != nil {
			return nil, errors.Join(err, d.remove())
		}
	}
	return d, nil
}

func (d *runDir) join(names ...string) string {
	return filepath.Join(append([]string{d.path}, names...)...)
}

func (d *runDir) create(name string) (*os.File, error) {
	return d.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
}

func (d *runDir) write(name string, content []byte) error {
	if err := d.root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return d.root.WriteFile(name, content, 0o600)
}

// remove removes the directory. It retries, since a process that was just killed may
// still be writing.
func (d *runDir) remove() error {
	_ = d.root.Close()
	var err error
	for range (retry.Backoff{First: time.Millisecond, Max: 50 * time.Millisecond, Limit: 7}).Attempts(context.Background()) {
		if err = safefile.RemovePath(d.path); err == nil {
			return nil
		}
	}
	return err
}
