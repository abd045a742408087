package adapter

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// Binary returns the absolute path of the program to run: SWITCHYARD_<NAME>_BIN, else
// NUBOS_PILOT_<NAME>_BIN, else the adapter's program, or the first word of command if the
// adapter does not name a program. A path is relative to root; a bare name is searched in
// PATH. All variables are taken from environ. Relative directories in PATH are skipped, since
// they would find programs of the repository.
//
// # Errors
//
// spawn-binary-missing, spawn-command-missing and spawn-binary-unusable.
func (a *Adapter) Binary(environ []string, root string, command []string) (string, error) {
	program := a.spec.Bin
	if program == "" && len(command) > 0 {
		program = command[0]
	}
	if a.spec.Bin != "" {
		variable := strings.ToUpper(strings.ReplaceAll(a.spec.Name, "-", "_")) + "_BIN"
		program = cmp.Or(childenv.Value(environ, "SWITCHYARD_"+variable), childenv.Value(environ, "NUBOS_PILOT_"+variable), program)
	}
	switch {
	case program == "":
		return "", errs.New(errs.SpawnCommandMissing, "the adapter %s runs the command of spawn.command, and none is set", a.spec.Name).With("adapter", a.spec.Name)
	case strings.ContainsRune(program, 0):
		return "", a.missing("%q names no program", program).With("bin", program)
	case filepath.Base(program) != program:
		if !filepath.IsAbs(program) {
			program = filepath.Join(root, program)
		}
		return a.runnable(program)
	default:
		return a.inPath(program, filepath.SplitList(childenv.Value(environ, "PATH")))
	}
}

// inPath searches a program in directories. A file that cannot be run is reported only if no
// later directory has the program.
func (a *Adapter) inPath(name string, folders []string) (string, error) {
	var unusable error
	for _, folder := range folders {
		if !filepath.IsAbs(folder) {
			continue
		}
		file := filepath.Join(folder, name)
		path, err := a.runnable(file)
		if err == nil {
			return path, nil
		}
		// A directory that cannot be searched does not have the program.
		if _, failed := os.Stat(file); failed == nil && unusable == nil && errs.CodeOf(err) == errs.SpawnBinaryUnusable {
			unusable = err
		}
	}
	if unusable != nil {
		return "", unusable
	}
	return "", a.missing("there is no program %s in PATH, which the adapter %s runs", name, a.spec.Name).With("bin", name)
}

// missing returns spawn-binary-missing. No variable names the program of spawn.command.
func (a *Adapter) missing(format string, args ...any) *errs.Error {
	f := errs.New(errs.SpawnBinaryMissing, format, args...).With("adapter", a.spec.Name)
	if a.spec.Bin == "" {
		f = f.WithHint("check spawn.command: its first element is the program")
	}
	return f
}

// runnable returns the path of a program, on Windows with its extension.
func (a *Adapter) runnable(path string) (string, error) {
	found, err := exec.LookPath(path)
	switch {
	case err == nil:
		return found, nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, exec.ErrNotFound):
		return "", a.missing("%s is not there, which the adapter %s runs", path, a.spec.Name).With("path", path).Because(err)
	default:
		return "", errs.New(errs.SpawnBinaryUnusable, "%s cannot be run: %w", path, err).With("adapter", a.spec.Name).With("path", path)
	}
}
