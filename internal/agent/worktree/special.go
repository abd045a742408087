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

// errWaits is the error of something that git would wait for.
var errWaits = errors.New("it is neither a file nor a folder, and git would wait for it")

// read are the files of a working tree that git reads itself.
var read = []string{ignoreFile, ".gitattributes", ".gitmodules", ".mailmap"}

// special lists what lies below a folder of a repository's working tree and is neither
// a regular file, a link nor a folder, as pipes and sockets: git does not tell of
// them. It goes into ignored folders and our own, too, since git may read files there,
// and not into other repositories.
//
// # Errors
//
// tree-unreadable if git would wait for one. The cause of ctx when that is done.
func (l *scanner) special(ctx context.Context, dir string) ([]string, error) {
	var found []string
	var walk func(dir string) error
	walk = func(dir string) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		// What cannot be opened git cannot open either, and says so where it counts.
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

// entriesOf lists a folder with the types of what is in it.
func (l *scanner) entriesOf(dir string) ([]fs.DirEntry, error) {
	f, err := l.Open(filepath.FromSlash(path.Join(".", dir)))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

// maxSpecial is how many special files may lie in a repository's working tree.
const maxSpecial = 1000

// addSpecial notes those of the special files of a repository that it does not ignore.
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

// ready refuses a repository of which git would wait for a file: of its own, or one of
// settings. Paths in errors are those of .git.
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

// regular refuses what is there and no regular file.
func regular(name string) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return errWaits
	}
	return nil
}

// maxIncluded is how many files of settings are looked at, and maxSettings how much of
// each, in bytes.
const maxIncluded, maxSettings = 100, 1 << 20

// section and included find what a file of settings may include. They need not be
// exact: each path is only looked at.
var (
	section  = regexp.MustCompile(`^\s*\[\s*([A-Za-z]+)`)
	included = regexp.MustCompile(`(?i)\bpath\s*=\s*"?([^"#;\r\n]+)`)
)

// readySettings refuses a file of settings that git would wait for, be it one that it
// includes. seen has those that were looked at.
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
