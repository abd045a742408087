package worktree

import (
	"bufio"
	"bytes"
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

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// cutNotice is the last line of a diff that was cut.
const cutNotice = "[cut here: the diff is longer than it may be]\n"

// Diff writes git's diff of the tree against the commit base, as Base names it, "" for
// HEAD: all that counts, with untracked files as additions, and files that the index is
// told to hide. Paths are relative to the root. Before the first commit all files are
// additions. It writes at most limit bytes in whole lines; if there are more, the last
// line says so.
//
// .gitattributes has no say in filters and binary files, so that a draft cannot hide in
// it. A file that a filter stores elsewhere, such as git-lfs, is shown with its content
// here once it was touched. Files above 16 MiB are binary. Of a submodule the commit is
// compared.
//
// # Errors
//
// tree-no-git, tree-base-unknown, tree-unreadable, those of the supervisor and of w. If
// ctx is done, the error wraps its cause.
func (t Tree) Diff(ctx context.Context, base string, w io.Writer, limit int64) error {
	paths, all, err := t.candidates(ctx, base)
	if err != nil || !all && len(paths) == 0 {
		return err
	}
	return t.scan(ctx, Scope{}, func(ctx context.Context, s *scanner) error {
		out, err := s.diff(ctx, base, limit, []string{"--find-renames", "--src-prefix=a/", "--dst-prefix=b/"}, literal(paths), paths)
		if err != nil {
			return err
		}
		return cut(w, out, limit)
	})
}

// maxCandidates bounds the paths that git diff is given.
const maxCandidates = 1000

// maxNames bounds a list of names, in bytes.
const maxNames = 1 << 20

// candidates returns all paths that may differ from the commit base, so that git reads no
// others: those that differed before, and those that changed since. all is set if that is
// not known, or if there are too many.
func (t Tree) candidates(ctx context.Context, base string) (paths []string, all bool, err error) {
	if t.Cache == nil || t.Now == nil {
		return nil, true, nil
	}
	was := t.Cache.comparison(t.Root)
	if was.known(base, t.Now) {
		paths = was.since(t.Now)
	} else if paths, err = t.differing(ctx, base); err != nil {
		return nil, false, err
	}
	if len(paths) > maxCandidates {
		return nil, true, nil
	}
	t.Cache.compared(t.Root, &comparison{base: base, shot: t.Now, paths: paths})
	return paths, false, nil
}

// differing lists the files that differ from the commit base, more than maxCandidates if
// the list is too long.
func (t Tree) differing(ctx context.Context, base string) ([]string, error) {
	var text []byte
	err := t.scan(ctx, Scope{}, func(ctx context.Context, s *scanner) error {
		out, err := s.diff(ctx, base, maxNames, []string{"--name-only", "--no-renames", "-z"}, nil, nil)
		if err == nil {
			text, err = io.ReadAll(out)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(text) >= maxNames {
		return make([]string, maxCandidates+1), nil
	}
	names := strings.Split(string(text), "\x00")
	return names[:len(names)-1], nil
}

// literal returns pathspecs that match the paths alone.
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
// Those of Diff.
func (t Tree) Differs(ctx context.Context, base string, patterns []string) (differs bool, err error) {
	paths := make([]string, len(patterns))
	for i, pattern := range patterns {
		paths[i] = ":(glob)" + pattern
	}
	err = t.scan(ctx, Scope{}, func(ctx context.Context, s *scanner) error {
		out, err := s.diff(ctx, base, 1, []string{"--name-only"}, paths, nil)
		if err != nil {
			return err
		}
		size, err := out.Seek(0, io.SeekEnd)
		differs = size > 0
		return err
	})
	return differs, err
}

// diff runs git diff with these arguments for what these pathspecs match, everything if
// there are none, and returns its output up to the limit. only lists the paths that they
// can match, nil for any.
func (s *scanner) diff(ctx context.Context, base string, limit int64, args, specs, only []string) (io.ReadSeeker, error) {
	r, err := s.comparedRepo(ctx)
	if err != nil {
		return nil, err
	}
	settings, err := s.git.settings(ctx, *r)
	if err != nil {
		return nil, err
	}
	if _, err := s.walkAll(ctx, ""); err != nil {
		return nil, err
	}
	m, err := s.git.shadow(*r, settings)
	if err != nil {
		return nil, err
	}
	commit, err := s.commit(ctx, *r, base)
	if err != nil {
		return nil, err
	}
	if err := s.ownIndex(ctx, m, only); err != nil {
		return nil, err
	}
	command := m.command(s.real, slices.Concat([]string{"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--relative",
		"--submodule=short", "--ignore-submodules=dirty"}, args, []string{commit, "--"}, specs)...)
	command.limit = max(limit, 1)
	command.env = append(slices.Clone(m.env), "GIT_LITERAL_PATHSPECS=0") // The paths are our own patterns.
	out, err := s.git.run(ctx, command)
	if err == nil && out.code != 0 && !out.truncated {
		err = out.failure(command)
	}
	return out.output, err
}

// ownIndex gives the shadow an index of its own: the repository's, with untracked files
// that count and without flags and times that hide a change, for the paths in only if that
// is not nil. The author of the draft could also write the index, and git trusts its times.
func (s *scanner) ownIndex(ctx context.Context, m *shadowRepo, only []string) error {
	own, err := os.OpenRoot(m.repo.dir)
	if err != nil {
		return unreadable(gitFolder, err)
	}
	defer own.Close()
	if err := m.copy(own, "index"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unreadable(path.Join(gitFolder, "index"), err)
	}
	m.env = append(m.env, "GIT_INDEX_FILE="+filepath.Join(m.dir, "index"))
	lines, err := s.git.create("entries")
	if err != nil {
		return err
	}
	defer lines.Close()
	if err := s.writeEntries(ctx, m, only, lines); err != nil {
		return err
	}
	if _, err := lines.Seek(0, io.SeekStart); err != nil {
		return unreadable(".", err)
	}
	command := m.command(s.real, "update-index", "--replace", "-z", "--index-info")
	command.input = lines
	_, err = s.git.runOK(ctx, command)
	return err
}

// writeEntries writes entries for git update-index, for untracked and hidden files. A
// rewritten entry has no flags and times, so that git reads its file.
func (s *scanner) writeEntries(ctx context.Context, m *shadowRepo, only []string, w io.Writer) error {
	wanted := make(map[string]bool, len(only))
	for _, path := range only {
		wanted[path] = true
	}
	prefix, err := filepath.Rel(m.repo.top, s.real)
	if err != nil {
		return unreadable(".", err)
	}
	out, err := s.git.runOK(ctx, m.command(s.real, "ls-files", "-z", "-v", "--stage", "--cached", "--others", "--exclude-standard"))
	if err != nil {
		return err
	}
	lines := bufio.NewWriter(w)
	err = records(out, func(text string) error {
		e, err := parseEntry(text)
		if err != nil {
			return unreadable(".", err)
		}
		conflict := !e.untracked() && e.stage != "0"
		if only != nil && !wanted[e.path] || conflict || e.mode == gitlink || strings.HasSuffix(e.path, "/") || !s.counts(e.path) {
			return nil
		}
		if e.untracked() || e.tag == 'h' || e.tag == 's' || e.tag == 'S' {
			f, err := s.dirs.there(e.path)
			if err != nil || f == nil { // A file that is not checked out was not deleted.
				return err
			}
			if e.untracked() {
				e.mode, e.oid = gitMode(f.mode), m.emptyBlob()
			}
		}
		_, err = fmt.Fprintf(lines, "%s %s 0\t%s\x00", e.mode, e.oid, path.Join(filepath.ToSlash(prefix), e.path))
		return err
	})
	return errors.Join(err, lines.Flush())
}

// emptyBlob is the id of an empty file.
func (m *shadowRepo) emptyBlob() string {
	if m.format == sha256Format {
		return "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"
	}
	return "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
}

// gitMode is git's name for a file's type and permissions.
func gitMode(mode fs.FileMode) string {
	switch {
	case mode.Type() == fs.ModeSymlink:
		return "120000"
	case mode&0o100 != 0:
		return "100755"
	default:
		return "100644"
	}
}

// cut copies a diff. If it is too long, it copies as many whole lines as fit, and a
// notice.
func cut(w io.Writer, r io.Reader, limit int64) error {
	text, err := io.ReadAll(io.LimitReader(r, max(limit, 0)+1))
	if err != nil {
		return err
	}
	if int64(len(text)) > limit {
		fits := text[:max(limit-int64(len(cutNotice)), 0)]
		text = append(fits[:bytes.LastIndexByte(fits, '\n')+1], cutNotice...)
	}
	_, err = w.Write(text[:min(int64(len(text)), max(limit, 0))])
	return err
}

// Base returns the id of the commit that a draft is compared with: of rev, else of the
// merge base of HEAD and branch, else of HEAD if both are "". Before the first commit it
// is that of the empty tree.
//
// # Errors
//
// tree-no-git, tree-base-unknown, tree-unreadable and those of the supervisor. If ctx is
// done, the error wraps its cause.
func (t Tree) Base(ctx context.Context, rev, branch string) (commit string, err error) {
	err = t.scan(ctx, Scope{}, func(ctx context.Context, s *scanner) (err error) {
		commit, err = s.base(ctx, rev, branch)
		return err
	})
	return commit, err
}

// comparedRepo returns the repository with which the tree is compared.
func (s *scanner) comparedRepo(ctx context.Context) (*repo, error) {
	if s.git.bin == "" {
		return nil, errs.New(errs.TreeNoGit, "git is not installed, so that nothing can be compared")
	}
	r, err := s.enclosingRepo(ctx)
	if err == nil && r == nil {
		err = errs.New(errs.TreeNoGit, "the project is in no git repository, so that nothing can be compared")
	}
	if err == nil {
		err = s.git.ready(*r)
	}
	return r, err
}

func (s *scanner) base(ctx context.Context, rev, branch string) (string, error) {
	r, err := s.comparedRepo(ctx)
	if err != nil {
		return "", err
	}
	if rev != "" || branch == "" {
		return s.commit(ctx, *r, rev)
	}
	other, err := s.commit(ctx, *r, branch)
	if err != nil {
		return "", err
	}
	head, err := s.commit(ctx, *r, "")
	if err != nil || slices.Contains(emptyTrees, head) {
		return head, err
	}
	common, err := s.id(ctx, *r, "merge-base", head, other)
	if err == nil && common == "" {
		err = errs.New(errs.TreeBaseUnknown, "HEAD has no commit in common with %.200q", branch).With("base", branch)
	}
	return common, err
}

// commit returns the id of the commit base, "" for HEAD.
func (s *scanner) commit(ctx context.Context, r repo, base string) (string, error) {
	if slices.Contains(emptyTrees, base) {
		return base, nil
	}
	if base == "" {
		base = "HEAD"
	}
	commit := ""
	// Other forms of revisions search, or do not name a commit.
	if regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./+@{}~^-]{0,255}$`).MatchString(base) {
		var err error
		if commit, err = s.id(ctx, r, "rev-parse", "--verify", "--quiet", base+"^{commit}"); err != nil {
			return "", err
		}
	}
	switch {
	case commit != "":
		return commit, nil
	case base != "HEAD" || !r.unborn():
		return "", errs.New(errs.TreeBaseUnknown, "git knows no commit %.200q to compare with", base).With("base", base)
	}
	// The format of ids is the repository's.
	empty, err := s.id(ctx, r, "hash-object", "-t", "tree", "--no-filters", os.DevNull)
	if err == nil && empty == "" {
		err = unreadable(gitFolder, errBroken)
	}
	return empty, err
}

// emptyTrees are the ids of the empty tree in each format.
var emptyTrees = []string{
	"4b825dc642cb6eb9a060e54bf8d69288fbee4904",
	"6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}

// id returns the id that a git command prints, "" if it fails.
func (s *scanner) id(ctx context.Context, r repo, args ...string) (string, error) {
	out, err := s.git.run(ctx, r.command(args...))
	if err != nil || out.code != 0 {
		return "", err
	}
	text, err := io.ReadAll(out.output)
	if err != nil || !regexp.MustCompile(`^[0-9a-f]{40,64}\n$`).Match(text) {
		return "", err
	}
	return string(text[:len(text)-1]), nil
}

// unborn reports whether HEAD names a branch without a commit.
func (r repo) unborn() bool {
	names, err := r.head()
	if err != nil || len(names) == 0 {
		return false
	}
	branch := names[len(names)-1]
	packed, err := r.packedRefs(func(name string) bool { return name == branch })
	if err != nil || len(packed) > 0 {
		return false
	}
	_, err = os.Lstat(filepath.Join(r.common, filepath.FromSlash(branch)))
	return errors.Is(err, fs.ErrNotExist)
}
