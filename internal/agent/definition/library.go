package definition

import (
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

// ending is that of a definition's file.
const ending = ".md"

// maxDefinition is the largest file of a definition, in bytes.
const maxDefinition = 1 << 20

// maxListed is how many entries of a folder List looks at.
const maxListed = 1000

// Folder is where a project's own definitions belong, relative to its root.
const Folder = ".switchyard/agents"

// folders are those that are searched, in their order.
func folders() []string { return []string{Folder, ".nubos-pilot/agents", ".claude/agents"} }

// Library finds definitions: a project's own, then ours.
type Library struct {
	// Root is the project's root; "" finds ours alone.
	Root string
}

// Find returns the definition of an agent. The first folder that has a file of the
// name decides, even if that file is broken: whoever replaced an agent must not get
// another one unawares.
//
// What we call critic also answers to np-critic, and so on for all that is built in,
// unless the project has a file of the longer name.
//
// Files are opened through the project's root, so that a symbolic link cannot lead
// out of it. Only regular files are read.
//
// # Errors
//
// agent-name-invalid before anything is opened, agent-not-found, and those of Parse; agent-invalid-definition
// also where a file cannot be read, is too large or lies outside. They carry the
// path, if there is one.
func (l Library) Find(name string) (Definition, error) {
	if !isName(name) {
		return Definition{}, errs.New(errs.AgentNameInvalid, "%q is no agent's name: it has 1 to %d letters, digits, _ and -", textutil.Clip(name, maxShown), maxName).With("agent", textutil.Clip(name, maxShown))
	}
	names := []string{name}
	if short, ok := strings.CutPrefix(name, prefix); ok && slices.Contains(Names(), short) {
		names = append(names, short)
	}
	root, err := l.open()
	if err != nil {
		return Definition{}, err
	}
	if root != nil {
		defer root.Close()
	}
	for _, name := range names {
		for _, dir := range folders() {
			d, found, err := read(root, dir, name)
			if found || err != nil {
				return d, err
			}
		}
	}
	if d, ok := builtIn(names[len(names)-1]); ok {
		return d, nil
	}
	return Definition{}, errs.New(errs.AgentNotFound, "no agent is called %s", name).With("agent", name).With("searched", folders())
}

// open returns the project's root, nil where there is none to search.
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

// read reads a definition from a folder, and reports whether the folder has one.
func read(root *os.Root, dir, name string) (Definition, bool, error) {
	if root == nil {
		return Definition{}, false, nil
	}
	file := path.Join(dir, name+ending)
	data, err := safefile.Read(root, file, maxDefinition)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		// A link that leads nowhere is there, and broken.
		if _, err := root.Lstat(file); err != nil {
			return Definition{}, false, nil
		}
	}
	if err != nil {
		return Definition{}, true, invalid(name, "%s: %w", file, safefile.Reason(err)).With("path", file)
	}
	d, err := Parse(name, data)
	if f, ok := errors.AsType[*errs.Error](err); ok {
		return Definition{}, true, f.With("path", file)
	}
	d.Path = file
	return d, true, nil
}

// Listed is an agent or a module that the name leads to.
type Listed struct {
	Name string
	// Definition is what Find returns for the name, and Err its error.
	Definition Definition
	Err        error
}

// List returns all that Find finds, each name once and in the order of the names. A
// broken definition is listed with its error; what cannot be an agent, by its name,
// is left out. Of a folder it looks at the first 1000 entries.
func (l Library) List() []Listed {
	names := Names()
	if root, err := l.open(); err == nil && root != nil {
		for _, dir := range folders() {
			names = append(names, inFolder(root, dir)...)
		}
		_ = root.Close() // It was only read.
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

// inFolder returns the names of the definitions in a folder. There are none in one
// that cannot be read: a project need not have it.
func inFolder(root *os.Root, dir string) []string {
	f, err := root.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(maxListed) // What was read before an error counts.
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ending); ok && isName(name) && !e.IsDir() {
			names = append(names, name)
		}
	}
	return names
}
