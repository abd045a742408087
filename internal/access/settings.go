// Package access decides which files and hosts a confined process may reach: the ones that it
// needs, and the ones that the project or the user adds (docs/confinement.md). Package sandbox
// enforces this.
package access

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/egress"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/sandbox"
)

// Settings are the part of a project's configuration that is about confinement
// (docs/configuration.md).
type Settings struct {
	confinement.Want
	// Read and Write are paths that a process may reach in addition to its Needs: absolute, in
	// the home directory as ~/NAME, or relative to the project's root.
	Read, Write []string
	// Hosts are the hosts that it may reach in addition.
	Hosts []string
	// Limits bound the resources that it uses.
	Limits sandbox.Limits
}

// Variables in which the user lists further paths, separated as in PATH. They are for paths of
// one machine, such as caches, which do not belong in a project's settings.
const (
	ReadVariable  = "SWITCHYARD_CONFINE_READ"
	WriteVariable = "SWITCHYARD_CONFINE_WRITE"
)

// Site describes the place in which a process runs.
type Site struct {
	// Root is the project's root, and Tree the working tree, which may be the root.
	Root, Tree string
	// State is the directory of the ledger.
	State string
	// Deciding are the files that affect decisions about rounds, such as the settings and the
	// policy, relative to Tree.
	Deciding []string
	// Environ is the environment of this program.
	Environ []string
}

// Needs lists the needs of a process besides the working tree.
type Needs struct {
	// Program is the absolute path of its program.
	Program string
	// Edits is set if it may change the files of the tree.
	Edits bool
	// Private is its private directory, and Cache the directory in it for caches. Read and
	// Write are absolute paths.
	Private, Cache string
	Read, Write    []string
	// Checkout are paths relative to Site.Root that it reads even if it runs in another tree.
	Checkout []string
	// State are the paths of its login and settings, which it may change except for Protected.
	State, Protected []string
	// Hosts are the hosts of its API, and URLs are the variables with URLs of other hosts.
	Hosts, URLs []string
}

// plan describes everything that a process may reach.
type plan struct {
	spec  sandbox.Spec
	hosts egress.Allow
	cache string
	// leavesTree is set if nothing in the tree or the project is writable.
	leavesTree bool
}

// planOf returns the plan for a process.
//
// # Errors
//
// confine-path-invalid and confine-host-invalid.
func planOf(s Settings, site Site, n Needs) (plan, error) {
	home, links := childenv.Value(site.Environ, "HOME"), newLinks()
	site = site.real(links)
	granted := newLinks(site.Root, site.Tree)
	granted.state = site.State
	p := plan{cache: n.Cache, spec: sandbox.Spec{
		Want: s.Want, Limits: s.Limits, Private: n.Private, Write: links.real(n.Write), Protected: links.real(n.Protected), FixedMetadata: !n.Edits,
	}}
	decide := append(deciding(site), site.State)
	protected, hasLedger := links.real(decide), within(site.State, site.Tree)
	if !n.Edits || hasLedger {
		// Everything except the ledger: a rule for the whole directory would include that.
		p.spec.List = []string{site.Tree}
		p.spec.Read = children(site.Tree, site.State)
	}
	switch {
	case !n.Edits:
	case hasLedger:
		p.spec.Write = append(p.spec.Write, children(site.Tree, append(decide, protected...)...)...)
	default:
		p.spec.Write = append(p.spec.Write, site.Tree)
		p.spec.Protected = append(p.spec.Protected, protected...)
	}
	more, err := site.resolve(granted, s.Write, WriteVariable)
	if err != nil {
		return p, err
	}
	more = append(more, granted.real(n.State)...)
	for _, path := range more {
		if err := site.checkWritable(links, path); err != nil {
			return p, err
		}
	}
	p.spec.Write = append(p.spec.Write, more...)
	granted.writable = append(granted.writable, more...)
	if more, err = site.resolve(granted, s.Read, ReadVariable); err != nil {
		return p, err
	}
	p.spec.Read = slices.Concat(p.spec.Read, links.real(slices.Concat(n.Read, gitFolders(site, home))), site.checkout(links, n.Checkout), site.programs(granted, n.Program), more)
	p.leavesTree = !slices.ContainsFunc(p.spec.Write, func(path string) bool {
		return slices.ContainsFunc([]string{site.Tree, site.Root}, func(dir string) bool { return within(path, dir) || within(dir, path) })
	})
	hosts := slices.Clone(s.Hosts)
	for _, name := range n.URLs {
		if host := hostOf(childenv.Value(site.Environ, name)); host != "" {
			hosts = append(hosts, host)
		}
	}
	p.hosts, err = egress.ParseHosts(n.Hosts, hosts)
	return p, err
}

// real returns the site with the real paths of its directories, as far as they exist.
func (s Site) real(links *links) Site {
	for _, dir := range []*string{&s.Root, &s.Tree, &s.State} {
		if real := links.real([]string{*dir}); len(real) > 0 {
			*dir = real[0]
		}
	}
	return s
}

// checkout returns the absolute paths for paths in the project's root. It drops a path that
// leads through a symbolic link, because the repository chose the target.
func (s Site) checkout(links *links, paths []string) (all []string) {
	for _, path := range paths {
		path = filepath.Join(s.Root, path)
		if real := links.real([]string{path}); slices.Contains(real, path) {
			all = append(all, path)
		}
	}
	return all
}

// resolve returns the absolute paths of a setting and of the list in a variable, without
// symbolic links.
func (s Site) resolve(granted *links, paths []string, variable string) (all []string, err error) {
	for _, path := range slices.Concat(paths, filepath.SplitList(childenv.Value(s.Environ, variable))) {
		if path == "" { // Between two separators of a list.
			continue
		}
		full := path
		if rest, ok := strings.CutPrefix(path, "~/"); ok {
			full = filepath.Join(childenv.Value(s.Environ, "HOME"), rest)
		} else if !filepath.IsAbs(path) {
			full = filepath.Join(s.Root, path)
		}
		resolved, err := granted.resolve(filepath.Clean(full))
		if err != nil {
			return nil, errs.New(errs.ConfinePathInvalid, "%s, which a confined process may reach, cannot be used: %w", path, safefile.Reason(err)).With("path", path)
		}
		all = append(all, resolved)
	}
	return all, nil
}

// checkWritable refuses a path through which a process could change the files that decide
// about it.
func (s Site) checkWritable(links *links, path string) error {
	decide := slices.Concat(deciding(s), []string{s.State}, worktree.GitFolders(s.Root))
	if s.Tree != s.Root {
		s.Tree = s.Root
		decide = append(decide, deciding(s)...)
	}
	// The user's shell would run start files that the process wrote to the home directory.
	if home := links.real([]string{childenv.Value(s.Environ, "HOME")}); len(home) == 1 && within(home[0], path) {
		return errs.New(errs.ConfinePathInvalid, "%s must not be writable for a confined process, since it has the whole home directory", path).With("path", path)
	}
	for _, d := range links.real(decide) {
		if within(d, path) || within(path, d) {
			return errs.New(errs.ConfinePathInvalid, "%s must not be writable for a confined process, since %s decides about it", path, d).With("path", path)
		}
	}
	return nil
}

// deciding returns the absolute paths in a tree that affect decisions about rounds.
func deciding(s Site) []string {
	all := []string{filepath.Join(s.Tree, ".git")}
	for _, path := range s.Deciding {
		if !filepath.IsAbs(path) {
			path = filepath.Join(s.Tree, path)
		}
		if path != s.Tree { // A setting that is not set.
			all = append(all, path)
		}
	}
	return all
}

// gitFolders returns the paths that git reads besides a tree: the repository, the objects that
// it borrows from another one, and the user's settings.
func gitFolders(s Site, home string) []string {
	settings := filepath.Join(home, ".config", "git") // It may have a file with passwords too.
	folders := worktree.GitFolders(s.Tree)
	for _, folder := range folders {
		objects := filepath.Join(folder, "objects")
		text, _ := os.ReadFile(filepath.Join(objects, "info", "alternates")) // Most repositories have none.
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimRight(line, "\r\n"); line != "" && !filepath.IsAbs(line) {
				line = filepath.Join(objects, line)
			}
			folders = append(folders, line)
		}
	}
	return append(folders, filepath.Join(home, ".gitconfig"),
		filepath.Join(settings, "config"), filepath.Join(settings, "ignore"), filepath.Join(settings, "attributes"))
}

// programs returns the directories of the program and of the programs that it can call. It
// omits a directory that contains the home directory, the project or the ledger.
func (s Site) programs(granted *links, program string) []string {
	home := childenv.Value(s.Environ, "HOME")
	private := newLinks().real([]string{home, s.Root, s.Tree, s.State})
	folders := slices.Concat(granted.real(toolFolders(s.Environ, home)), programFolders(granted, program, s.Environ))
	return slices.DeleteFunc(folders, func(folder string) bool {
		return slices.ContainsFunc(private, func(path string) bool { return within(path, folder) })
	})
}

// children returns the paths in a directory that are not in without. If without has a path in
// a subdirectory, it returns the children of that instead of the subdirectory.
func children(folder string, without ...string) []string {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil // The process cannot read it either.
	}
	var all []string
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		switch {
		case slices.Contains(without, path) || e.Type()&os.ModeSymlink != 0:
		case slices.ContainsFunc(without, func(p string) bool { return within(p, path) }):
			all = append(all, children(path, without...)...)
		default:
			all = append(all, path)
		}
	}
	return all
}

// within reports whether a path is a directory or below it.
func within(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}
