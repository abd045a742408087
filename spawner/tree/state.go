package tree

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
	"strings"

	"github.com/switchyard-dev/switchyard/host/folder"
)

// maxKept is how many files of git's own are looked at in one repository.
const maxKept = 100_000

// ownState and commonState are what counts of git's own files, in what it keeps
// for one working tree and in what it keeps for all: with the names of files that
// need not be there, and of folders that count whole. Left out are logs, caches,
// what a fetch leaves, and the objects, which no ref leads to unless a ref changes.
var (
	ownState = []string{
		"HEAD", "commondir", "config.worktree", "info", "MERGE_HEAD", "MERGE_MODE", "MERGE_MSG", "SQUASH_MSG",
		"CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_START", "rebase-merge", "rebase-apply", "sequencer",
	}
	commonState = []string{"config", "hooks", "info", "logs/refs/stash", "objects/info/alternates", "reftable", "shallow"}
)

// packedRefs is the file of the refs that have none of their own.
const packedRefs = "packed-refs"

// state looks at what git keeps of a repository in the folder prefix of the root.
type state struct {
	prefix string
	items  map[item]value
	kept   int
}

// add notes an item under the path that it has in .git.
func (s *state) add(name, text string) {
	s.items[item{path: path.Join(s.prefix, gitFolder, name)}] = value{text: text}
}

// state notes what git keeps of a repository, without asking git.
func (l *look) state(ctx context.Context, prefix string, r repo) error {
	s := &state{prefix: prefix, items: l.items}
	err := s.read(ctx, r)
	if err != nil && ctx.Err() == nil {
		return unreadable(path.Join(prefix, gitFolder), err)
	}
	return err
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
	if err := s.packed(common); err != nil {
		return err
	}
	for _, part := range []struct {
		root  *os.Root
		names []string
	}{{common, commonState}, {common, []string{"refs"}}, {own, ownState}, {own, []string{"refs"}}} {
		for _, name := range part.names {
			if err := s.any(ctx, part.root, name); err != nil {
				return err
			}
		}
	}
	return nil
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
	if s.kept++; s.kept > maxKept {
		return fmt.Errorf("it holds more than %d files", maxKept)
	}
	switch {
	case fetched(name + "/"):
		return nil
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
		s.add(name, what(name, info, sum))
	}
	return err
}

// what is what counts of a file: its digest, and for all but refs also whether it
// can be run. A ref may move into the file of packed refs, and is the same there.
func what(name string, info fs.FileInfo, sum string) string {
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

// fetched says that a ref tells where other repositories stand. An editor's fetch in
// the background moves it, and nothing in the tree follows it.
func fetched(ref string) bool {
	return strings.HasPrefix(ref, "refs/remotes/") || strings.HasPrefix(ref, "refs/prefetch/")
}

// packed notes the packed refs. A ref of the same name that has a file of its own
// is noted later, and is the one that counts.
func (s *state) packed(root *os.Root) error {
	f, err := folder.Follow(root, packedRefs)
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
		if s.kept++; !ok || s.kept > maxKept {
			return errBroken
		}
		if fetched(name) {
			continue
		}
		s.add(name, sumOf([]byte(oid+"\n")))
	}
	return lines.Err()
}

// digest hashes a regular file.
func digest(root *os.Root, name string) (string, error) {
	f, err := folder.Follow(root, filepath.FromSlash(name))
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
