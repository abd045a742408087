package worktree

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// errWaits is the error of a special file that would block git.
var errWaits = errors.New("it is neither a file nor a folder, and git would wait for it")

// read are the files of a working tree that git itself reads.
var read = []string{ignoreFile, ".gitattributes", ".gitmodules", ".mailmap"}

// special lists files below dir that are not regular files, links or directories, such as
// pipes and sockets, which git does not report. It enters ignored directories, since git
// may read files there, but not other repositories.
//
// # Errors
//
// tree-unreadable if a file would block git. The cause of ctx if that is done.
func (l *scanner) special(ctx context.Context, dir string) ([]string, error) {
	var found []string
	var walk func(dir string) error
	walk = func(dir string) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		// Git cannot open it either, and reports it if it matters.
		entries, _ := l.entriesOf(dir)
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			switch kind := e.Type(); {
			case kind.IsRegular(), kind == fs.ModeSymlink, e.Name() == gitFolder:
			case kind.IsDir():
				if r, err := l.find(name); r != nil || err != nil {
					continue
				}
				if err := walk(name); err != nil {
					return err
				}
			case slices.Contains(read, e.Name()):
				return unreadable(name, errWaits)
			case l.counts(name):
				found = append(found, name)
			}
		}
		return nil
	}
	err := walk(dir)
	return found, err
}

func (l *scanner) entriesOf(dir string) ([]fs.DirEntry, error) {
	f, err := l.Open(filepath.FromSlash(path.Join(".", dir)))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

// maxSpecial bounds the special files in a repository's working tree.
const maxSpecial = 1000

// addSpecial adds those special files that the repository does not ignore.
func (l *scanner) addSpecial(ctx context.Context, dir string, m *shadowRepo, names []string) error {
	if len(names) == 0 {
		return nil
	}
	if len(names) > maxSpecial {
		return unreadable(dir, fmt.Errorf("it holds more than %d pipes, sockets or devices", maxSpecial))
	}
	input, err := os.CreateTemp(l.git.temp, "special-")
	if err != nil {
		return unreadable(dir, err)
	}
	defer input.Close()
	for _, name := range names {
		if _, err := fmt.Fprintf(input, "./%s\x00", strings.TrimPrefix(strings.TrimPrefix(name, dir), "/")); err != nil {
			return unreadable(dir, err)
		}
	}
	if _, err := input.Seek(0, io.SeekStart); err != nil {
		return unreadable(dir, err)
	}
	out, err := l.git.checkIgnore(ctx, m, filepath.Join(l.real, filepath.FromSlash(dir)), input, "-z", "--stdin", "--no-index")
	if err != nil {
		return err
	}
	ignored := make(map[string]bool)
	if err := records(out.output, func(text string) error {
		ignored[path.Join(dir, text)] = true
		return nil
	}); err != nil {
		return err
	}
	for _, name := range names {
		if !ignored[name] {
			if err := l.add(name, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// ready refuses a repository with a file that would block git: one of its own, or one of
// settings.
func (g *git) ready(r repo) error {
	for _, dir := range []string{r.dir, r.common} {
		for _, name := range []string{"HEAD", "index", "packed-refs", "shallow", "info/exclude", "info/attributes", "info/grafts", "info/sparse-checkout", "objects/info/alternates"} {
			if err := regular(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
				return unreadable(path.Join(gitFolder, name), err)
			}
		}
	}
	for _, name := range []string{g.userFile("ignore"), g.userFile("attributes")} {
		if err := regular(name); err != nil {
			return unreadable(gitFolder, fmt.Errorf("the user's git/%s: %w", filepath.Base(name), err))
		}
	}
	seen := make(map[string]bool)
	for _, name := range []string{
		filepath.Join(r.common, "config"), filepath.Join(r.dir, "config.worktree"), g.expand("~/.gitconfig"), g.userFile("config"),
	} {
		if err := g.readySettings(name, seen); err != nil {
			return unreadable(path.Join(gitFolder, "config"), err)
		}
	}
	return nil
}

// regular refuses an existing special file.
func regular(name string) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return errWaits
	}
	return nil
}

// maxIncluded bounds how many files of settings are read, and maxSettings the size of
// each, in bytes.
const maxIncluded, maxSettings = 100, 1 << 20

// section and included find files that settings may include. They need not be exact.
var (
	section  = regexp.MustCompile(`^\s*\[\s*([A-Za-z]+)`)
	included = regexp.MustCompile(`(?i)\bpath\s*=\s*"?([^"#;\r\n]+)`)
)

// readySettings refuses a file of settings that would block git, also if it is included.
// seen has the files that were checked.
func (g *git) readySettings(name string, seen map[string]bool) error {
	if seen[name] || len(seen) > maxIncluded {
		return nil
	}
	seen[name] = true
	if err := regular(name); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil // Git cannot read it either.
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, maxSettings))
	lines.Buffer(nil, maxSettings)
	includes := false
	for lines.Scan() {
		if begins := section.FindStringSubmatch(lines.Text()); begins != nil {
			includes = strings.HasPrefix(strings.ToLower(begins[1]), "include")
		}
		found := included.FindStringSubmatch(lines.Text())
		if !includes || found == nil {
			continue
		}
		if err := g.readySettings(resolve(filepath.Dir(name), g.expand(strings.TrimSpace(found[1]))), seen); err != nil {
			return err
		}
	}
	return nil
}
