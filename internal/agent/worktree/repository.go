package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/switchyard-dev/switchyard/internal/gitcmd"
)

// enclosingRepo returns the repository that contains the root, or nil, and adds the ignore
// files in the directories above the root.
func (s *scanner) enclosingRepo(ctx context.Context) (r *repo, err error) {
	if r, err = findAbove(s.real); err != nil {
		return nil, unreadable(gitFolder, err)
	}
	if r == nil || r.top == s.real {
		return r, nil
	}
	if ignored, err := s.isRootIgnored(ctx, *r); err != nil || ignored {
		return nil, err
	}
	for dir, name := s.real, ignoreFile; dir != r.top; {
		dir, name = filepath.Dir(dir), path.Join("..", name)
		sum, err := digestFile(filepath.Join(dir, ignoreFile))
		switch {
		case err == nil:
			s.items[gitKey{path: name}] = gitValue{text: sum}
		case !errors.Is(err, fs.ErrNotExist):
			return nil, unreadable(name, err)
		}
	}
	return r, nil
}

// isRootIgnored reports whether a repository above the root ignores the root. Such a
// repository, for example of a whole home directory, does not count.
func (s *scanner) isRootIgnored(ctx context.Context, r repo) (bool, error) {
	if s.git.bin == "" {
		return false, nil
	}
	settings, err := s.git.settings(ctx, r)
	if err != nil {
		return false, err
	}
	m, err := s.git.shadow(r, settings)
	if err != nil {
		return false, err
	}
	below, err := filepath.Rel(r.top, s.real)
	if err != nil {
		return false, unreadable(".", err)
	}
	out, err := s.git.checkIgnore(ctx, m, r.top, "", "--quiet", "--no-index", "--", "./"+filepath.ToSlash(below))
	return err == nil && out.ExitCode == 0, err
}

func (g *git) checkIgnore(ctx context.Context, m *shadowRepo, dir, input string, args ...string) (gitcmd.Result, error) {
	command := m.command(dir, append([]string{"check-ignore"}, args...)...)
	command.input = input
	command.env = append(slices.Clone(m.env), "GIT_LITERAL_PATHSPECS=0") // check-ignore refuses literal pathspecs.
	out, err := g.run(ctx, command)
	if err == nil && out.ExitCode > 1 {
		err = command.failure(out)
	}
	return out, err
}

// maxNested bounds the nesting of repositories.
const maxNested = 8

// repository scans the repository with its working tree at dir, and the repositories below it.
func (s *scanner) repository(ctx context.Context, dir string, r repo) error {
	if s.depth++; s.depth > maxNested {
		return unreadable(dir, fmt.Errorf("repositories lie more than %d deep in each other", maxNested))
	}
	defer func() { s.depth-- }()
	s.repos[dir] = true
	if s.depth == 1 {
		s.common = r.common
	} else if r.common == s.common && r.isLinked() {
		// The contents of another working tree of the same repository do not count.
		s.items[gitKey{path: path.Join(dir, gitFolder)}] = gitValue{text: "another working tree"}
		return nil
	}
	if s.git.bin == "" {
		if err := s.addGitFiles(ctx, dir, r, true); err != nil {
			return err
		}
		return s.walk(ctx, dir)
	}
	var settings []setting
	var w walkResult
	var found []*file
	err := together(
		func() (err error) { settings, err = s.git.settings(ctx, r); return err },
		func() (err error) { w, err = s.walkAll(ctx, dir); return err },
		func() error { return s.addGitFiles(ctx, dir, r, false) },
		func() (err error) {
			if s.depth == 1 {
				found, err = s.lstat(ctx, s.latest.paths())
			}
			return err
		},
	)
	if err != nil {
		return err
	}
	if s.depth == 1 {
		s.latestNow = found
	}
	if err := s.addSettings(dir, r, settings); err != nil {
		return err
	}
	return s.list(ctx, dir, r, settings, w)
}

// together calls functions concurrently, and returns the first error in their order.
func together(calls ...func() error) error {
	failed := make([]error, len(calls))
	var running sync.WaitGroup
	for i, call := range calls {
		running.Go(func() { failed[i] = call() })
	}
	running.Wait()
	return cmp.Or(failed...)
}

// addSettings adds the settings that count, and the user's files of rules: a rule can hide a
// file from git, or make git store other contents than the file has.
func (s *scanner) addSettings(dir string, r repo, settings []setting) error {
	head, err := r.head()
	if err != nil {
		return unreadable(path.Join(dir, gitFolder), err)
	}
	config := path.Join(dir, gitFolder, "config")
	named := make(map[string]string)
	for name, f := range userFiles {
		named[name] = s.git.userFile(f.standard)
	}
	for _, set := range settings {
		if !set.counts(head) {
			continue
		}
		key := gitKey{config, set.name}
		s.items[key] = gitValue{text: s.items[key].text + set.value + "\x00"} // A setting may have several values.
		if _, ok := named[set.name]; ok {
			named[set.name] = s.git.expand(set.value)
		}
	}
	for name, file := range named {
		// Git follows links here, and starts in the top directory.
		file, err := filepath.EvalSymlinks(resolve(r.top, file))
		if err != nil {
			continue // Git cannot read it either.
		}
		if sum, err := digestFile(file); err == nil {
			s.items[gitKey{config, userFiles[name].item}] = gitValue{text: sum}
		}
	}
	return nil
}

// maxSpecial bounds the special files in a repository's working tree.
const maxSpecial = 1000

// addSpecial adds the special files that the repository does not ignore.
func (s *scanner) addSpecial(ctx context.Context, dir string, r repo, settings []setting, names []string) error {
	if len(names) == 0 {
		return nil
	}
	if len(names) > maxSpecial {
		return unreadable(dir, fmt.Errorf("it holds more than %d pipes, sockets or devices", maxSpecial))
	}
	m, err := s.git.shadow(r, settings)
	if err != nil {
		return err
	}
	ignored, err := s.ignoredOf(ctx, m, dir, names)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !ignored[name] {
			if err := s.add(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// ignoredOf returns the names that the repository at dir ignores.
func (s *scanner) ignoredOf(ctx context.Context, m *shadowRepo, dir string, names []string) (map[string]bool, error) {
	if len(names) == 0 {
		return nil, nil
	}
	var input strings.Builder
	for _, name := range names {
		fmt.Fprintf(&input, "./%s\x00", strings.TrimPrefix(strings.TrimPrefix(name, dir), "/"))
	}
	out, err := s.git.checkIgnore(ctx, m, filepath.Join(s.real, filepath.FromSlash(dir)), input.String(), "-z", "--stdin", "--no-index")
	if err != nil {
		return nil, err
	}
	ignored := make(map[string]bool)
	err = records(out.Output, func(text string) error {
		ignored[path.Join(dir, text)] = true
		return nil
	})
	return ignored, err
}

// findHiddenRepos adds the repositories in directories with tracked files, which git does not
// report. Their settings apply to git commands that run there.
func (s *scanner) findHiddenRepos(ctx context.Context) error {
	if s.listed {
		return nil // A listing is reused only if there are no other repositories.
	}
	folders := make(map[string]bool)
	for _, name := range s.names {
		for dir := path.Dir(name); dir != "." && !folders[dir]; dir = path.Dir(dir) {
			folders[dir] = true
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(folders)) {
		f, err := s.dirs.lstat(path.Join(dir, gitFolder))
		if err != nil {
			return err
		}
		if f == nil || s.repos[dir] {
			continue
		}
		s.items[gitKey{path: path.Join(dir, gitFolder)}] = gitValue{text: f.mode.Type().String()}
		if r, err := s.find(dir); err == nil && r != nil { // Git ignores an invalid one.
			if err := s.addGitFiles(ctx, dir, *r, true); err != nil {
				return err
			}
		}
	}
	return nil
}

// indexEntry is a line of git ls-files.
type indexEntry struct {
	path string
	// tag is a letter, see git-ls-files(1), -t and -v.
	tag byte
	// mode, oid and stage are "" for an untracked path.
	mode, oid, stage string
}

func (e indexEntry) isUntracked() bool { return e.tag == '?' }

// parseEntry parses a record of git ls-files -z -v --stage.
func parseEntry(text string) (indexEntry, error) {
	if len(text) < 3 || text[1] != ' ' {
		return indexEntry{}, malformed(text)
	}
	e := indexEntry{tag: text[0], path: text[2:]}
	if !e.isUntracked() {
		meta, name, ok1 := strings.Cut(text[2:], "\t")
		mode, rest, ok2 := strings.Cut(meta, " ")
		oid, stage, ok3 := strings.Cut(rest, " ")
		if !ok1 || !ok2 || !ok3 || strings.Contains(stage, " ") {
			return indexEntry{}, malformed(text)
		}
		e.path, e.mode, e.oid, e.stage = name, mode, oid, stage
	}
	// A path that is not clean and local could lead out of the tree.
	if clean := strings.TrimSuffix(e.path, "/"); clean == "." || !filepath.IsLocal(clean) || path.Clean(clean) != clean {
		return indexEntry{}, malformed(text)
	}
	return e, nil
}

func malformed(text string) error { return fmt.Errorf("git ls-files: %.200q is not an entry", text) }
