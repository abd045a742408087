package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const ignoreFile = ".gitignore"

// enclosingRepo returns the repository that contains the root, nil for none, and adds the
// ignore files in the directories above the root.
func (l *scanner) enclosingRepo(ctx context.Context) (*repo, error) {
	r, err := findAbove(l.real)
	if err != nil || r == nil || r.top == l.real {
		return r, err
	}
	if ignored, err := l.rootIgnored(ctx, *r); err != nil || ignored {
		return nil, err
	}
	for dir, name := l.real, ignoreFile; dir != r.top; {
		dir, name = filepath.Dir(dir), path.Join("..", name)
		folder, err := os.OpenRoot(dir)
		if err != nil {
			return nil, unreadable(name, err)
		}
		sum, err := digest(folder, ignoreFile)
		_ = folder.Close()
		switch {
		case err == nil:
			l.items[gitKey{path: name}] = gitValue{text: sum}
		case !errors.Is(err, fs.ErrNotExist):
			return nil, unreadable(name, err)
		}
	}
	return r, nil
}

// rootIgnored reports whether a repository above the root ignores the root, as one of a
// whole home directory may: then it has no say.
func (l *scanner) rootIgnored(ctx context.Context, r repo) (bool, error) {
	if l.git.bin == "" {
		return false, nil
	}
	settings, err := l.git.settings(ctx, r)
	if err != nil {
		return false, err
	}
	m, err := l.git.shadow(r, settings)
	if err != nil {
		return false, err
	}
	below, err := filepath.Rel(r.top, l.real)
	if err != nil {
		return false, unreadable(".", err)
	}
	out, err := l.git.checkIgnore(ctx, m, r.top, nil, "--quiet", "--no-index", "--", "./"+filepath.ToSlash(below))
	return err == nil && out.code == 0, err
}

// checkIgnore runs git check-ignore.
func (g *git) checkIgnore(ctx context.Context, m *shadowRepo, dir string, input *os.File, args ...string) (gitResult, error) {
	command := m.command(dir, append([]string{"check-ignore"}, args...)...)
	command.input = input
	command.env = append(slices.Clone(m.env), "GIT_LITERAL_PATHSPECS=0") // check-ignore refuses literal pathspecs.
	out, err := g.run(ctx, command)
	if err == nil && out.code > 1 {
		err = unreadable(".", fmt.Errorf("git check-ignore: %q (exit code %d)", strings.TrimSpace(out.stderr), out.code))
	}
	return out, err
}

// findPlantedRepos adds repositories that git does not report: those in a directory with
// tracked files. Their settings apply to git commands that run there.
func (l *scanner) findHiddenRepos(ctx context.Context) error {
	folders := make(map[string]bool)
	for name := range l.paths {
		for dir := path.Dir(name); dir != "." && !folders[dir]; dir = path.Dir(dir) {
			folders[dir] = true
		}
	}
	for _, dir := range sorted(folders) {
		if l.repos[dir] {
			continue
		}
		f, err := l.dirs.lstat(path.Join(dir, gitFolder))
		if err != nil {
			return err
		}
		if f == nil {
			continue
		}
		l.items[gitKey{path: path.Join(dir, gitFolder)}] = gitValue{text: f.mode.Type().String()}
		if r, err := l.find(dir); err == nil && r != nil { // Git ignores an invalid one.
			if err := l.state(ctx, dir, *r, true); err != nil {
				return err
			}
		}
	}
	return nil
}
