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

	"github.com/switchyard-dev/switchyard/internal/gitcmd"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// maxGitFiles bounds the files of git that are read in one repository.
const maxGitFiles = 100_000

// ownState and commonState are git's files and directories that count, for one working tree
// and for all. They need not exist. A ref counts if it belongs to the working tree itself,
// such as a bisection's, if it replaces objects, or if HEAD leads to it. Other refs may belong
// to other working trees. Logs, caches and objects do not count, since objects are reached
// through refs.
var (
	ownState = []string{
		"HEAD", "commondir", "info", "refs/bisect", "refs/rewritten", "refs/worktree", "MERGE_HEAD", "MERGE_MODE", "MERGE_MSG", "SQUASH_MSG",
		"CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_START", "rebase-merge", "rebase-apply", "sequencer",
	}
	commonState = []string{"hooks", "info", "objects/info/alternates", replacements, "reftable", "shallow"}
)

const replacements = "refs/replace"

// gitFiles has the values of the files in .git that count, by their names there.
type gitFiles map[string]string

// addGitFiles adds git's files of a repository without running git. With configs, the contents
// of files of settings count.
func (s *scanner) addGitFiles(ctx context.Context, dir string, r repo, configs bool) error {
	files := make(gitFiles)
	head, err := r.head()
	if err == nil {
		err = files.read(ctx, r, head, configs)
	}
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return unreadable(path.Join(dir, gitFolder), err)
	}
	// The refs that HEAD leads through are a part of HEAD, so that switching the branch is
	// one change instead of three.
	for _, name := range head {
		if text, ok := files[name]; ok {
			delete(files, name)
			s.items[gitKey{path.Join(dir, gitFolder, "HEAD"), "its commit"}] = gitValue{text: text}
		}
	}
	for name, text := range files {
		s.items[gitKey{path: path.Join(dir, gitFolder, name)}] = gitValue{text: text}
	}
	return nil
}

func (g gitFiles) read(ctx context.Context, r repo, head []string, configs bool) error {
	// If .git is not a directory, its target counts.
	link := filepath.Join(r.top, gitFolder)
	info, err := os.Lstat(link)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		read := gitcmd.ReadLine
		if info.Mode().Type() == fs.ModeSymlink {
			read = os.Readlink
		}
		text, err := read(link)
		if err != nil {
			return err
		}
		g[""] = info.Mode().Type().String() + " " + text
	}
	packed, err := r.packedRefs(func(name string) bool { return slices.Contains(head, name) || below(name, replacements) })
	if err != nil {
		return err
	}
	for name, oid := range packed { // A ref's own file overrides it.
		g[name] = fmt.Sprintf("%x", sha256.Sum256([]byte(oid+"\n")))
	}
	common, own := slices.Concat(commonState, head), ownState
	if configs {
		common, own = append(common, "config"), append(slices.Clone(own), "config", "config.worktree")
	}
	for _, part := range []struct {
		dir   string
		names []string
	}{{r.common, common}, {r.dir, own}} {
		root, err := os.OpenRoot(part.dir)
		if err != nil {
			return err
		}
		if err = errors.Join(g.addAll(ctx, root, part.names), root.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (g gitFiles) addAll(ctx context.Context, root *os.Root, names []string) error {
	for _, name := range names {
		if err := g.add(ctx, root, name); err != nil {
			return err
		}
	}
	return nil
}

// add adds a file, or all files of a directory, if it exists.
func (g gitFiles) add(ctx context.Context, root *os.Root, name string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	info, err := root.Lstat(filepath.FromSlash(name))
	if isMissing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(g) > maxGitFiles {
		return fmt.Errorf("it holds more than %d files", maxGitFiles)
	}
	switch kind := info.Mode().Type(); {
	case kind.IsDir():
		f, err := root.Open(filepath.FromSlash(name))
		if err != nil {
			return err
		}
		names, err := f.Readdirnames(-1)
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		for i, n := range names {
			names[i] = path.Join(name, n)
		}
		return g.addAll(ctx, root, names)
	case strings.HasSuffix(name, ".lock") || name == "info/refs":
		// a lock file, or a copy of the refs for web servers
	case kind == fs.ModeSymlink:
		target, err := root.Readlink(filepath.FromSlash(name))
		g[name] = "link " + target
		return err
	case !kind.IsRegular():
		g[name] = kind.String()
	default:
		sum, err := digest(root, name)
		// A ref may move to the packed refs and stays the same there.
		if g[name] = sum; !strings.HasPrefix(name, "refs/") {
			g[name] = info.Mode().String() + " " + sum
		}
		return err
	}
	return nil
}

const packedRefs = "packed-refs"

// packedRefs returns the ids of the packed refs that count.
func (r repo) packedRefs(counts func(ref string) bool) (map[string]string, error) {
	f, err := safefile.OpenPath(filepath.Join(r.common, packedRefs))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	refs := make(map[string]string)
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		text := lines.Text()
		if text == "" || text[0] == '#' || text[0] == '^' { // a comment, or a peeled tag
			continue
		}
		oid, name, ok := strings.Cut(text, " ")
		if !ok {
			return nil, errBroken
		}
		if counts(name) {
			refs[name] = oid
		}
	}
	return refs, lines.Err()
}

// digestFile is digest for a path.
func digestFile(name string) (string, error) {
	dir, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return "", err
	}
	defer dir.Close()
	return digest(dir, filepath.Base(name))
}

// digest hashes a regular file. It follows only links that stay within root.
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
