package worktree

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/gitcmd"
	"github.com/switchyard-dev/switchyard/internal/supervise"
)

// cutNotice is the last line of a diff that was cut.
const cutNotice = "[cut here: the diff is longer than it may be]\n"

// Diff writes git's diff between the commit base, as returned by Base or "" for HEAD, and the
// tree. The diff has all files that count, with untracked files as additions, and files that
// flags of the index hide. Paths are relative to the root. Before the first commit all files
// are additions. Diff writes at most limit bytes in whole lines. If it has to cut the diff,
// the last line says so.
//
// It ignores filters and binary files in .gitattributes, so that a draft cannot hide changes
// there. A file that a filter such as git-lfs stores outside of git is shown with its content
// after it was touched. Files above 16 MiB are binary. For a submodule, the commit is
// compared.
//
// # Errors
//
// tree-no-git, tree-base-unknown, tree-unreadable, and errors from the supervisor and from w.
// If ctx is done, the error wraps its cause.
func (t Tree) Diff(ctx context.Context, base string, w io.Writer, limit int64) error {
	paths, all, err := t.candidates(ctx, base)
	if err != nil || !all && len(paths) == 0 {
		return err
	}
	return t.scan(ctx, Scope{}, func(ctx context.Context, s *scanner) error {
		out, err := s.diff(ctx, base, limit, []string{"--find-renames", "--src-prefix=a/", "--dst-prefix=b/"}, literal(paths), paths)
		if err == nil {
			_, err = io.WriteString(w, cut(out, limit))
		}
		return err
	})
}

// maxCandidates bounds the paths that are passed to git diff.
const maxCandidates = 1000

// maxNames bounds a list of names, in bytes.
const maxNames = 1 << 20

// candidates returns all paths that may differ from the commit base, because they differed
// before, have changed since, or are in Commit, so that git does not read others. all is set if they are not
// known, or if there are too many.
func (t Tree) candidates(ctx context.Context, base string) (paths []string, all bool, err error) {
	if t.Cache == nil || t.Now == nil {
		return nil, true, nil
	}
	paths, known := t.Cache.get(t.Root).compared.since(base, t.Now)
	if !known {
		if paths, known, err = t.differing(ctx, base); err != nil {
			return nil, false, err
		}
	}
	paths = slices.Compact(slices.Sorted(slices.Values(slices.Concat(paths, t.Commit))))
	if !known || len(paths) > maxCandidates {
		return nil, true, nil
	}
	if gitcmd.IsID(base) { // A name may lead to another commit later.
		t.Cache.compared(t.Root, &comparison{base: base, shot: t.Now, paths: paths})
	}
	return paths, false, nil
}

// differing lists the files that differ from the commit base, unless the list is too long.
func (t Tree) differing(ctx context.Context, base string) (paths []string, whole bool, err error) {
	var text string
	err = t.scan(ctx, Scope{}, func(ctx context.Context, s *scanner) (err error) {
		text, err = s.diff(ctx, base, maxNames, []string{"--name-only", "--no-renames", "-z"}, nil, nil)
		return err
	})
	if err != nil || len(text) >= maxNames {
		return nil, false, err
	}
	paths = strings.Split(text, "\x00")
	return paths[:len(paths)-1], true, nil
}

// literal returns pathspecs that match only the paths.
func literal(paths []string) []string {
	specs := make([]string, len(paths))
	for i, path := range paths {
		specs[i] = ":(literal)" + path
	}
	return specs
}

// Differs reports whether a file that matches one of the patterns differs from the commit
// base, as in Diff. In a pattern, * matches a part of a name and **/ any directories, as
// in git; paths are relative to the root.
//
// # Errors
//
// The errors of Diff.
func (t Tree) Differs(ctx context.Context, base string, patterns []string) (differs bool, err error) {
	paths := make([]string, len(patterns))
	for i, pattern := range patterns {
		paths[i] = ":(glob)" + pattern
	}
	err = t.scan(ctx, Scope{}, func(ctx context.Context, s *scanner) error {
		out, err := s.diff(ctx, base, maxNames, []string{"--name-only"}, paths, nil)
		differs = out != ""
		return err
	})
	return differs, err
}

// diff runs git diff with these arguments for the files that the pathspecs match, or for all
// files without pathspecs, and returns its output up to the limit. only lists the paths that
// the pathspecs can match, nil for any.
func (s *scanner) diff(ctx context.Context, base string, limit int64, args, specs, only []string) (string, error) {
	m, l, err := s.draftShadow(ctx)
	if err != nil {
		return "", err
	}
	commit := base
	if only == nil || !gitcmd.IsID(base) { // Otherwise candidates has found the commit.
		if commit, err = s.commit(ctx, m.repo, base); err != nil {
			return "", err
		}
	}
	if err := s.writeIndex(ctx, m, l, only); err != nil {
		return "", err
	}
	command := m.command(s.real, slices.Concat([]string{"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--relative",
		"--submodule=short", "--ignore-submodules=dirty"}, args, []string{commit, "--"}, specs)...)
	command.limit = max(limit, 0) + 1                                    // One byte more shows that there is more output.
	command.env = append(slices.Clone(m.env), "GIT_LITERAL_PATHSPECS=0") // The pathspecs are our patterns.
	out, err := s.git.run(ctx, command)
	// The limit includes git's warnings, which can be about each file.
	truncated := out.End == supervise.OutputLimit
	if err == nil && (out.ExitCode != 0 && !truncated || truncated && int64(len(out.Output)) < command.limit) {
		err = command.failure(out)
	}
	return out.Output, err
}

// cut returns a diff, or its first lines and a notice if it is longer than limit.
func cut(text string, limit int64) string {
	if int64(len(text)) <= limit {
		return text
	}
	fits := text[:max(limit-int64(len(cutNotice)), 0)]
	text = fits[:strings.LastIndexByte(fits, '\n')+1] + cutNotice
	return text[:min(int64(len(text)), max(limit, 0))]
}

// draftShadow returns a shadow of the repository with which the tree is compared, and git's
// listing of the tree.
func (s *scanner) draftShadow(ctx context.Context) (*shadowRepo, *listing, error) {
	r, err := s.comparedRepo(ctx)
	if err != nil {
		return nil, nil, err
	}
	l, err := s.currentListing(ctx, *r)
	if err != nil {
		return nil, nil, err
	}
	m, err := s.git.shadow(*r, l.settings)
	return m, l, err
}
