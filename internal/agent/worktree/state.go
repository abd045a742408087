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

// maxGitFiles is how many files of git's own are looked at in one repository.
const maxGitFiles = 100_000

// ownState and commonState are what counts of git's own files, in what it keeps
// for one working tree and in what it keeps for all: with the names of files that
// need not be there, and of folders that count whole. Of the refs there are those
// of the working tree itself, such as a bisection's, those that replace objects, and
// the one that HEAD leads to: all others may be those of another working tree, and
// nothing here follows them. Left out are logs, caches and the objects, which no
// ref leads to unless a ref changes.
var (
	ownState = []string{
		"HEAD", "commondir", "info", "refs/bisect", "refs/rewritten", "refs/worktree", "MERGE_HEAD", "MERGE_MODE", "MERGE_MSG", "SQUASH_MSG",
		"CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_START", "rebase-merge", "rebase-apply", "sequencer",
	}
	commonState = []string{"hooks", "info", "objects/info/alternates", "refs/replace", "reftable", "shallow"}
	// configs are the files of settings, which count by what they set unless git is
	// not asked.
	configs = []string{"config", "config.worktree"}
)

// replacements is where the refs are that replace objects.
const replacements = "refs/replace/"

// packedRefs is the file of the refs that have none of their own.
const packedRefs = "packed-refs"

// state looks at what git keeps of a repository in the folder prefix of the root.
type state struct {
	prefix string
	items  map[gitKey]gitValue
	count  int
	// configs says that the files of settings count as they are.
	configs bool
}

// add notes an item under the path that it has in .git.
func (s *state) add(name, text string) {
	s.items[gitKey{path: path.Join(s.prefix, gitFolder, name)}] = gitValue{text: text}
}

// state notes what git keeps of a repository, without asking git; with configs its
// files of settings as they are.
func (l *scanner) state(ctx context.Context, prefix string, r repo, configs bool) error {
	s := &state{prefix: prefix, items: l.items, configs: configs}
	err := s.read(ctx, r)
	if err != nil && ctx.Err() == nil {
		return unreadable(path.Join(prefix, gitFolder), err)
	}
	return err
}

// part is some of what git keeps.
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

// leads notes the refs that HEAD leads through as a part of HEAD: another branch of
// the same commit is one change, and not three.
func (s *state) leads(head []string) {
	for _, name := range head {
		was := gitKey{path: path.Join(s.prefix, gitFolder, name)}
		if v, ok := s.items[was]; ok {
			delete(s.items, was)
			s.items[gitKey{path.Join(s.prefix, gitFolder, "HEAD"), "its commit"}] = v
		}
	}
}

// readLink notes where .git leads if it is no folder.
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

// any notes a file, or all files of a folder, none where there is nothing.
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
		return nil // Somebody is about to write; a copy of the refs for web servers.
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

// describe is what counts of a file: its digest, and for all but refs also whether it
// can be run. A ref may move into the file of packed refs, and is the same there.
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

// packed notes those of the packed refs that count. A ref of the same name that has a
// file of its own is noted later, and is the one that counts.
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
		if text == "" || text[0] == '#' || text[0] == '^' { // a comment, and where a tag leads
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
