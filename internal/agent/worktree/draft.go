package worktree

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/gitcmd"
	"github.com/switchyard-dev/switchyard/internal/linediff"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/supervise"
)

// The limits of a stored draft, in bytes: of a file, which is the size above which git takes
// it for binary, of all files, and of the comparison of two drafts.
const maxDraftFile, maxDraftFiles, maxDraftDiff = 16 << 20, 64 << 20, 64 << 20

// Draft stores the draft as a git tree: the commit base, as in Diff, with the files that
// differ from it. Files are stored unchanged, except that files above the limit are left out.
// Draft returns the tree's id and the changes since previous, the tree of an earlier draft.
// They are nil if previous is "" or no longer exists. If Tree.Now is set, the draft is the one
// of that snapshot: Draft fails if a file of it has changed since.
//
// The tree is stored in the repository's objects. No ref leads to it, so git gc removes it, by
// default after two weeks.
//
// # Errors
//
// The errors of Diff.
func (t Tree) Draft(ctx context.Context, base, previous string) (tree string, changes linediff.Changes, err error) {
	fresh := t.Now != nil // The list of paths will be the one of the tree as it is.
	if fresh && t.Cache != nil {
		_, known := t.Cache.get(t.Root).compared.since(base, t.Now)
		fresh = !known
	}
	paths, all, err := t.candidates(ctx, base)
	if err == nil && all {
		if paths, all, err = t.differing(ctx, base); err == nil && !all {
			err = unreadable(".", errors.New("too many files differ from the base for the draft to be stored"))
		}
	}
	if err != nil {
		return "", nil, err
	}
	err = t.scan(ctx, Scope{}, func(ctx context.Context, s *scanner) error {
		m, l, err := s.draftShadow(ctx)
		if err != nil {
			return err
		}
		if !gitcmd.IsID(base) {
			if base, err = s.commit(ctx, m.repo, base); err != nil {
				return err
			}
		}
		if tree, err = s.storeDraft(ctx, m, l, base, paths); err != nil {
			return err
		}
		if fresh {
			if err := s.checkNow(ctx); err != nil {
				return err
			}
		}
		if previous == "" {
			return nil
		}
		changes, err = s.compareDrafts(ctx, m, previous, tree)
		return err
	})
	return tree, changes, err
}

// storeDraft stores the commit base with these files as they are now, and returns the tree.
func (s *scanner) storeDraft(ctx context.Context, m *shadowRepo, l *listing, base string, paths []string) (tree string, err error) {
	input, err := s.draftCommands(ctx, m, l, base, paths)
	if err != nil {
		return "", err
	}
	command := m.command(s.real, "fast-import", "--quiet", "--depth=0") // Deltas take three times as long.
	command.input, command.env = input, append(slices.Clone(m.env), "GIT_OBJECT_DIRECTORY="+filepath.Join(m.repo.common, "objects"))
	out, err := s.git.runOK(ctx, command)
	if err != nil {
		return "", err
	}
	tree, _ = strings.CutPrefix(strings.TrimSuffix(out, "\t\n"), "040000 tree ")
	if !gitcmd.IsID(tree) {
		return "", unreadable(".", fmt.Errorf("git fast-import: %.200q is not a tree", out))
	}
	return tree, nil
}

// draftCommands returns the commands for git fast-import that store a draft and print its tree.
func (s *scanner) draftCommands(ctx context.Context, m *shadowRepo, l *listing, base string, paths []string) (string, error) {
	prefix, err := filepath.Rel(m.repo.top, s.real)
	if err != nil {
		return "", unreadable(".", err)
	}
	ignored, err := s.ignoredRules(ctx, m, l, paths)
	if err != nil {
		return "", err
	}
	var removed, added bytes.Buffer
	for _, name := range paths {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		what, hidden, err := s.indexEntry(ctx, m, l, name)
		if err != nil {
			return "", err
		}
		var mode string
		var text []byte
		if what != "" && !hidden && !ignored[name] {
			if mode, text, err = s.draftFile(name); err != nil {
				return "", unreadable(name, err)
			}
		}
		at := `"` + gitcmd.Quote.Replace(path.Join(filepath.ToSlash(prefix), name)) + `"`
		switch {
		case hidden:
			fmt.Fprintf(&added, "M %s %s\n", what, at)
		case mode == "":
			fmt.Fprintf(&removed, "D %s\n", at)
		default:
			fmt.Fprintf(&added, "M %s inline %s\ndata %d\n%s\n", mode, at, len(text), text)
		}
		if added.Len() > maxDraftFiles {
			return "", unreadable(name, errors.New("the draft is too large to be stored"))
		}
	}
	from := "from " + base + "\n"
	if slices.Contains(emptyTrees, base) { // It is not a commit.
		from = ""
	}
	// Removals come first: a file can replace a directory that was removed, and the reverse.
	return fmt.Sprintf("commit refs/heads/draft\nmark :1\ncommitter switchyard <> 0 +0000\ndata 0\n%s%s%s\nls :1 \"\"\n", from, &removed, &added), nil
}

// draftFile returns a file's mode in git and its content, or "" if the draft does not have it.
// A submodule has no lines to compare.
func (s *scanner) draftFile(name string) (mode string, text []byte, err error) {
	f, err := s.dirs.lstatFile(name)
	if err != nil {
		return "", nil, err
	}
	if s.now == nil {
		return s.readDraft(name, f)
	}
	was := s.now.file(name)
	if was == nil { // It was written after the snapshot.
		return "", nil, nil
	}
	if mode, text, err = s.readDraft(name, f); err != nil || mode == "" && f != nil {
		return mode, text, err
	}
	if f == nil || f.mode != was.mode || was.hashed && was.sum != sha256.Sum256(text) {
		return "", nil, errChanged
	}
	return mode, text, nil
}

var errChanged = errors.New("it has changed since the draft was reviewed")

// checkNow fails if a file of Tree.Now has changed since.
func (s *scanner) checkNow(ctx context.Context) error {
	s.names = s.now.paths()
	files, err := s.read(ctx)
	if err != nil {
		return err
	}
	for i, was := range s.now.files {
		if i >= len(files) || files[i].path != was.path || len(was.changes(files[i].file)) > 0 {
			return unreadable(was.path, errChanged)
		}
	}
	return nil
}

func (s *scanner) readDraft(name string, f *file) (mode string, text []byte, err error) {
	switch {
	case f == nil || f.stat.size > maxDraftFile:
		return "", nil, nil
	case f.mode.Type() == fs.ModeSymlink:
		target, err := s.dirs.readlink(name)
		return gitMode(f.mode), []byte(target), err
	case !f.mode.IsRegular():
		return "", nil, nil
	}
	text, err = safefile.ReadFile(s.root, filepath.FromSlash(name), maxDraftFile)
	return gitMode(f.mode), text, err
}

// compareDrafts returns the changes between two trees, nil if one no longer exists.
func (s *scanner) compareDrafts(ctx context.Context, m *shadowRepo, before, after string) (linediff.Changes, error) {
	// Git may have converted line ends in the files of the base.
	command := m.command(s.real, "diff-tree", "-r", "-p", "-U0", "--no-renames", "--ignore-cr-at-eol", "--no-ext-diff", "--no-textconv", "--no-color", "--relative",
		"--ignore-submodules=all", "--src-prefix=a/", "--dst-prefix=b/", before, after) // A submodule has no lines.
	command.limit = maxDraftDiff
	out, err := s.git.run(ctx, command)
	if err != nil || out.ExitCode != 0 || out.End == supervise.OutputLimit {
		return nil, err
	}
	return linediff.Parse([]byte(out.Output))
}
