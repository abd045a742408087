package definition

import (
	"embed"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

const ending = ".md"

// maxDefinition bounds a definition's file, in bytes.
const maxDefinition = 1 << 20

// maxListed is the number of entries of a directory that List reads.
const maxListed = 1000

// Folder is the directory of a project's own definitions, relative to its root.
const Folder = ".switchyard/agents"

// folders are searched in this order.
func folders() []string { return []string{Folder, ".nubos-pilot/agents", ".claude/agents"} }

// Library finds definitions in a project and then among the built-in ones.
type Library struct {
	// Root is the project's root; "" for the built-in definitions only.
	Root string
}

// Find returns the definition of an agent. The first directory with a file of that name
// decides, even if that file is broken, so that a replacement is never ignored silently.
//
// A built-in agent NAME is also found as np-NAME, unless the project has a file of that
// name.
//
// Find reads only regular files, and follows symbolic links only within the project's root.
//
// # Errors
//
// agent-name-invalid, agent-not-found, and errors from Parse; agent-invalid-definition also
// for a file that cannot be read, is too large or is outside. The error and the definition have
// the path, if there is one.
func (l Library) Find(name string) (Definition, error) {
	if !nameForm().MatchString(name) {
		return Definition{}, errs.New(errs.AgentNameInvalid, "%q is not an agent's name: it has 1 to %d letters, digits, _ and -", textutil.Clip(name, maxShown), maxName).With("agent", textutil.Clip(name, maxShown))
	}
	names := []string{name}
	if strings.HasPrefix(name, prefix) {
		names = Spellings(name)
	}
	root, err := l.open()
	if err != nil {
		return Definition{}, err
	}
	if root != nil {
		defer root.Close()
		for _, name := range names {
			for _, dir := range folders() {
				if d, found, err := read(root, dir, name); found {
					return d, err
				}
			}
		}
	}
	if d, ok := builtIn(names[len(names)-1]); ok {
		return d, nil
	}
	return Definition{}, errs.New(errs.AgentNotFound, "no agent is called %s", name).With("agent", name).With("searched", folders()).
		WithHint("write " + path.Join(Folder, name+ending) + "; docs/agents.md has its form, and switchyard doctor lists the agents that there are")
}

// Spellings returns the names of an agent, the given one first: NAME and np-NAME for a
// built-in one.
func Spellings(name string) []string {
	short, isLong := strings.CutPrefix(name, prefix)
	switch {
	case !slices.Contains(Names(), short):
		return []string{name}
	case isLong:
		return []string{name, short}
	}
	return []string{name, prefix + name}
}

// FullName returns the name under which an agent's runs are recorded: np-NAME for a built-in
// one, else the given name.
func FullName(name string) string {
	for _, spelling := range Spellings(name) {
		if strings.HasPrefix(spelling, prefix) {
			return spelling
		}
	}
	return name
}

// open returns the project's root, nil without a project.
func (l Library) open() (*os.Root, error) {
	if l.Root == "" {
		return nil, nil
	}
	root, err := os.OpenRoot(l.Root)
	if err != nil {
		return nil, errs.New(errs.AgentNotFound, "the project's agents cannot be looked for: %w", safefile.Reason(err))
	}
	return root, nil
}

// read reads a definition from a directory, and reports whether the directory has it.
func read(root *os.Root, dir, name string) (Definition, bool, error) {
	file := path.Join(dir, name+ending)
	data, err := safefile.Read(root, file, maxDefinition)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		// A dangling link exists, and is broken.
		if _, err := root.Lstat(file); err != nil {
			return Definition{}, false, nil
		}
	}
	if err != nil {
		return Definition{Path: file}, true, invalid(name, "%s: %w", file, safefile.Reason(err)).With("path", file)
	}
	d, err := Parse(name, data)
	if err != nil {
		return Definition{Path: file}, true, errs.New(errs.CodeOf(err), "%s: %w", file, err).With("agent", name).With("path", file)
	}
	d.Path = file
	return d, true, nil
}

// Listed is an agent or module that List found.
type Listed struct {
	Name string
	// Definition and Err are the results of Find for the name.
	Definition Definition
	Err        error
}

// List returns everything that Find finds, sorted by name. A broken definition is listed with
// its error; files without a valid name are skipped. It reads the first 1000 entries of a
// directory.
func (l Library) List() []Listed {
	names := Names()
	if root, err := l.open(); err == nil && root != nil {
		for _, dir := range folders() {
			names = append(names, inFolder(root, dir)...)
		}
		_ = root.Close()
	}
	slices.Sort(names)
	names = slices.Compact(names)
	all := make([]Listed, len(names))
	for i, name := range names {
		d, err := l.Find(name)
		all[i] = Listed{Name: name, Definition: d, Err: err}
	}
	return all
}

// inFolder returns the names of the definitions in a directory, or nil if it cannot be read.
func inFolder(root *os.Root, dir string) []string {
	f, err := root.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(maxListed) // Entries before an error count.
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ending); ok && nameForm().MatchString(name) && !e.IsDir() {
			names = append(names, name)
		}
	}
	return names
}

// ours has the built-in definitions.
//
//go:embed agents/*.md
var ours embed.FS

// Names returns the names of the built-in agents and modules, sorted.
func Names() []string {
	names, _ := fs.Glob(ours, "agents/*"+ending) // The pattern is valid.
	for i, name := range names {
		names[i] = strings.TrimSuffix(path.Base(name), ending)
	}
	slices.Sort(names) // With the extension their order differs.
	return names
}

// Files returns the text of the built-in definitions by their paths in a project.
func Files() map[string][]byte {
	files := make(map[string][]byte)
	for _, name := range Names() {
		files[path.Join(Folder, name+ending)], _ = ours.ReadFile(path.Join("agents", name+ending))
	}
	return files
}

func builtIn(name string) (Definition, bool) {
	data, err := ours.ReadFile(path.Join("agents", name+ending))
	if err != nil {
		return Definition{}, false
	}
	d, err := Parse(name, data)
	return d, err == nil
}
