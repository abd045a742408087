package worktree

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// maxGitFiles bounds the files of git that are read in one repository.
const maxGitFiles = 100_000

// ownState and commonState are what counts of git's own files, in what it keeps
// for one working tree and in what it keeps for all: with the names of files that
// need not be there, and of folders that count whole. Of the refs there are those
// of the working tree itself, such as a bisection's, those that replace objects, and
// the one that HEAD leads to: all others may be those of another working tree, and
// nothing here follows them. Left out are logs, caches and the objects, which no
// ref leads to unless a ref changes.
var (
	// ownState and commonState are git's files that count, for one working tree and for
	// all: files and whole directories, which need not exist. Of the refs, those count
	// that belong to the working tree itself, such as a bisection's, that replace
	// objects, or that HEAD leads to; others may belong to other working trees. Logs,
	// caches and objects do not count, since objects are reached through refs.
	ownState = []string{
		"HEAD", "commondir", "info", "refs/bisect", "refs/rewritten", "refs/worktree", "MERGE_HEAD", "MERGE_MODE", "MERGE_MSG", "SQUASH_MSG",
		"CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_START", "rebase-merge", "rebase-apply", "sequencer",
	}
	commonState = []string{"hooks", "info", "objects/info/alternates", "refs/replace", "reftable", "shallow"}
	// configs are files of settings, which count by their content only if git is not
	// asked.
	configs = []string{"config", "config.worktree"}
)

// replacements contains the refs that replace objects.
const replacements = "refs/replace/"

const packedRefs = "packed-refs"

// state collects git's files of a repository at prefix.
type state struct {
	prefix string
	items  map[gitKey]gitValue
	count  int
	// configs says that files of settings count by content.
	configs bool
}

// add adds a file under its path in .git.
func (s *state) add(name, text string) {
	s.items[gitKey{path: path.Join(s.prefix, gitFolder, name)}] = gitValue{text: text}
}

// state adds git's files of a repository, without running git.
func (l *scanner) state(ctx context.Context, prefix string, r repo, configs bool) error {
	s := &state{prefix: prefix, items: l.items, configs: configs}
	err := s.read(ctx, r)
	if err != nil && ctx.Err() == nil {
		return unreadable(path.Join(prefix, gitFolder), err)
	}
	return err
}

// part is a list of files in a directory.
type part struct {
	root  *os.Root
	names []string
}

func (s *state) read(ctx context.Context, r repo) error {
	if err := s.readLink(r.top); err != nil {
		return err
	}
	own, err := os.OpenRoot(r.dir)
	if err != nil {
		return err
	}
	defer own.Close()
	common, err := os.OpenRoot(r.common)
	if err != nil {
		return err
	}
	defer common.Close()
	head, err := r.head()
	if err != nil {
		return err
	}
	if err := s.packed(common, func(name string) bool { return slices.Contains(head, name) || strings.HasPrefix(name, replacements) }); err != nil {
		return err
	}
	parts := []part{{common, commonState}, {common, head}, {own, ownState}}
	if s.configs {
		parts = append(parts, part{common, configs[:1]}, part{own, configs})
	}
	for _, part := range parts {
		for _, name := range part.names {
			if err := s.any(ctx, part.root, name); err != nil {
				return err
			}
		}
	}
	s.leads(head)
	return nil
}

// leads makes the refs that HEAD leads through a part of HEAD, so that switching the
// branch is one change instead of three.
func (s *state) leads(head []string) {
	for _, name := range head {
		was := gitKey{path: path.Join(s.prefix, gitFolder, name)}
		if v, ok := s.items[was]; ok {
			delete(s.items, was)
			s.items[gitKey{path.Join(s.prefix, gitFolder, "HEAD"), "its commit"}] = v
		}
	}
}

// readLink adds where .git leads if it is not a directory.
func (s *state) readLink(top string) error {
	name := filepath.Join(top, gitFolder)
	info, err := os.Lstat(name)
	if err != nil || info.IsDir() {
		return err
	}
	text := ""
	if info.Mode().Type() == fs.ModeSymlink {
		text, err = os.Readlink(name)
	} else {
		text, err = line(name)
	}
	s.add("", info.Mode().Type().String()+" "+text)
	return err
}

// any adds a file, or all files of a directory, if it exists.
func (s *state) any(ctx context.Context, root *os.Root, name string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	info, err := root.Lstat(filepath.FromSlash(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if s.count++; s.count > maxGitFiles {
		return fmt.Errorf("it holds more than %d files", maxGitFiles)
	}
	switch {
	case info.IsDir():
		return s.folder(ctx, root, name)
	case strings.HasSuffix(name, ".lock") || name == "info/refs":
		return nil // a lock file, or a copy of the refs for web servers
	case info.Mode().Type() == fs.ModeSymlink:
		target, err := root.Readlink(filepath.FromSlash(name))
		s.add(name, "link "+target)
		return err
	case !info.Mode().IsRegular():
		s.add(name, info.Mode().Type().String())
		return nil
	}
	sum, err := digest(root, name)
	if err == nil {
		s.add(name, describe(name, info, sum))
	}
	return err
}

// describe returns what counts of a file: its digest and, except for refs, its mode. A
// ref may move to the packed refs and stays the same there.
func describe(name string, info fs.FileInfo, sum string) string {
	if strings.HasPrefix(name, "refs/") {
		return sum
	}
	return fmt.Sprintf("%s %s", info.Mode(), sum)
}

func (s *state) folder(ctx context.Context, root *os.Root, name string) error {
	f, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return err
	}
	names, err := f.Readdirnames(-1)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	for _, n := range names {
		if err := s.any(ctx, root, path.Join(name, n)); err != nil {
			return err
		}
	}
	return nil
}

// packed adds those of the packed refs that count. A ref with a file of its own is added
// later and overrides the packed one.
func (s *state) packed(root *os.Root, counts func(ref string) bool) error {
	f, err := safefile.Open(root, packedRefs)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<10)
	for lines.Scan() {
		text := lines.Text()
		if text == "" || text[0] == '#' || text[0] == '^' { // a comment, or a peeled tag
			continue
		}
		oid, name, ok := strings.Cut(text, " ")
		if !ok {
			return errBroken
		}
		if counts(name) {
			s.add(name, sumOf([]byte(oid+"\n")))
		}
	}
	return lines.Err()
}

// digest hashes a regular file.
func digest(root *os.Root, name string) (string, error) {
	f, err := safefile.Open(root, filepath.FromSlash(name))
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, maxContent+1))
	if err == nil && n > maxContent {
		err = errors.New("a file of git's own is larger than any should be")
	}
	return fmt.Sprintf("%x", h.Sum(nil)), err
}

func sumOf(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }
