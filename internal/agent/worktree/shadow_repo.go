package worktree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/gitcmd"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// shadowRepo is a directory that git uses instead of the repository's .git: with its index and
// objects, but without its configuration.
type shadowRepo struct {
	repo   repo
	dir    string
	format string // of object names
	env    []string
	args   []string
}

// The formats of object names.
const (
	sha1Format   = "sha1"
	sha256Format = "sha256"
)

// shadowedSettings affect which files are ignored and how they are compared. Other settings
// are not copied.
var shadowedSettings = []string{
	"core.autocrlf", "core.eol", "core.excludesfile", "core.filemode", "core.ignorecase", "core.longpaths", "core.precomposeunicode",
	"core.sparsecheckout", "core.sparsecheckoutcone", "core.symlinks",
}

// shadow creates the shadow of a repository with these settings.
func (g *git) shadow(r repo, settings []setting) (*shadowRepo, error) {
	if err := g.private(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(g.temp, "shadow-")
	if err != nil {
		return nil, unreadable(gitFolder, err)
	}
	m := &shadowRepo{repo: r, dir: dir, format: sha1Format}
	for _, s := range settings {
		switch {
		case s.name == "extensions.objectformat":
			m.format = s.value
		case slices.Contains(shadowedSettings, s.name):
			m.args = append(m.args, "-c", s.name+"="+s.value)
		}
	}
	if m.format != sha1Format && m.format != sha256Format {
		return nil, unreadable(gitFolder, fmt.Errorf("its objects have names of the unknown format %q", m.format))
	}
	if err := m.fill(); err != nil {
		return nil, unreadable(gitFolder, err)
	}
	none := filepath.Join(dir, "none") // It does not exist.
	// These override every file, in case some version of git reads one anyway.
	for _, s := range []string{
		"core.fsmonitor=false", "core.hooksPath=" + none, "core.untrackedCache=false", "core.splitIndex=false",
		"core.quotePath=false", "core.bigFileThreshold=16m", "protocol.allow=never", "submodule.recurse=false",
	} {
		m.args = append(m.args, "-c", s)
	}
	m.env = []string{
		"GIT_DIR=" + dir, "GIT_WORK_TREE=" + r.top, "GIT_INDEX_FILE=" + filepath.Join(r.dir, "index"),
		"GIT_OBJECT_DIRECTORY=" + filepath.Join(dir, "objects"),
		`GIT_ALTERNATE_OBJECT_DIRECTORIES="` + gitcmd.Quote.Replace(filepath.ToSlash(filepath.Join(r.common, "objects"))) + `"`,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + filepath.Join(dir, "no-config"),
	}
	return m, nil
}

func (m *shadowRepo) fill() error {
	config := "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
	if m.format == sha256Format {
		config = "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectFormat = sha256\n"
	}
	for name, text := range map[string]string{
		"HEAD": "ref: refs/heads/none\n", "config": config, "no-config": "",
		// Attributes of the tree must not name a filter or hide a difference.
		"info/attributes": "* -filter !diff\n",
	} {
		name = filepath.Join(m.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return err
		}
	}
	for _, name := range []string{"objects", "refs"} {
		if err := os.Mkdir(filepath.Join(m.dir, name), 0o700); err != nil {
			return err
		}
	}
	common, err := os.OpenRoot(m.repo.common)
	if err != nil {
		return err
	}
	defer common.Close()
	if err := m.copy(common, "info/exclude"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return m.copyShared()
}

// copyShared copies the shared part of a split index.
func (m *shadowRepo) copyShared() error {
	own, err := os.OpenRoot(m.repo.dir)
	if err != nil {
		return err
	}
	defer own.Close()
	names, err := fs.Glob(own.FS(), "sharedindex.*")
	for _, name := range names {
		err = errors.Join(err, m.copy(own, name))
	}
	return err
}

func (m *shadowRepo) copy(from *os.Root, name string) error {
	source, err := safefile.Open(from, filepath.FromSlash(name))
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(filepath.Join(m.dir, filepath.FromSlash(name)), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, io.LimitReader(source, gitOutput))
	return errors.Join(err, target.Close())
}

// command is a git command in a directory of the repository's working tree.
func (m *shadowRepo) command(dir string, args ...string) gitCommand {
	return gitCommand{verb: args[0], dir: dir, env: m.env, args: slices.Concat(m.args, args), limit: gitOutput}
}
