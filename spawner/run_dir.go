package spawner

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/lease"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// dir is the folder of one attempt, for us and the agent alone: nothing that
// another run leaves behind is found in it, and nothing of this one is left.
//
//	prompt           what goes to standard input
//	stdout, stderr   what comes back; the agent gets them as open files
//	final            where the agent's CLI puts its final message, if it does
//	state/           the CLI's own settings and sessions
//	tmp/             its TMPDIR
//	report/          where a critic writes
type runDir struct {
	path string
	root *os.Root
}

// newRunDirPath is the path of a private folder that is still to be made below temp: it is
// written down first. Its name is a number that nobody can guess, and short: agents
// make sockets below it, whose paths may have some 100 bytes.
func newRunDirPath(temp string) (string, error) {
	// macOS and some users have their temporary folder behind a link; what an
	// agent is told and what it later says should be the same path.
	real, err := filepath.EvalSymlinks(temp)
	if err != nil {
		return "", err
	}
	return filepath.Abs(filepath.Join(real, lease.PrivateName(rand.Uint64())))
}

// newRunDir makes a private folder. The caller must remove it.
func newRunDir(path string) (*runDir, error) {
	if err := os.Mkdir(path, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(path))
	}
	p := &runDir{path: path, root: root}
	for _, name := range []string{stateFolder, tempFolder, reportFolder} {
		if err := root.Mkdir(name, 0o700); err != nil {
			return nil, errors.Join(err, p.remove())
		}
	}
	return p, nil
}

// What lies in a private folder.
const (
	promptFile   = "prompt"
	stdoutFile   = "stdout"
	stderrFile   = "stderr"
	finalFile    = "final"
	stateFolder  = "state"
	tempFolder   = "tmp"
	reportFolder = "report"
)

func (p *runDir) join(names ...string) string {
	return filepath.Join(append([]string{p.path}, names...)...)
}

// create makes a file that was not there.
func (p *runDir) create(name string) (*os.File, error) {
	return p.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
}

// write makes a file with a content, and the folders on its way.
func (p *runDir) write(name string, content []byte) error {
	if err := p.root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return p.root.WriteFile(name, content, 0o600)
}

// remove removes the folder with all that is in it. Something that was just ended
// may still be leaving, so that it is tried again.
func (p *runDir) remove() error {
	_ = p.root.Close()
	temp, err := os.OpenRoot(filepath.Dir(p.path))
	if err != nil {
		return err
	}
	defer temp.Close()
	for pause := time.Millisecond; pause < 100*time.Millisecond; pause *= 3 {
		if err = safefile.RemoveAll(temp, filepath.Base(p.path)); err == nil {
			return nil
		}
		time.Sleep(pause)
	}
	return err
}
