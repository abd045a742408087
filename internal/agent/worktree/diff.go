package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
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
	return t.scan(ctx, Scope{}, func(ctx context.Context, l *scanner) error {
		out, err := (&comparison{scanner: l, limit: limit}).diff(ctx, base, []string{"--find-renames", "--src-prefix=a/", "--dst-prefix=b/"}, nil)
		if err != nil {
			return err
		}
		return cut(w, out, limit)
	})
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
	err = t.scan(ctx, Scope{}, func(ctx context.Context, l *scanner) error {
		out, err := (&comparison{scanner: l, limit: 1}).diff(ctx, base, []string{"--name-only"}, paths)
		if err != nil {
			return err
		}
		size, err := out.Seek(0, io.SeekEnd)
		differs = size > 0
		return err
	})
	return differs, err
}

// diff runs git diff with these arguments for these paths, all if there are none, and
// returns its output up to the limit.
func (d *comparison) diff(ctx context.Context, base string, args, paths []string) (io.ReadSeeker, error) {
	if err := d.locate(ctx); err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(d.repo.top, d.real)
	if err != nil {
		return nil, unreadable(".", err)
	}
	d.prefix = filepath.ToSlash(rel)
	settings, err := d.git.settings(ctx, d.repo)
	if err != nil {
		return nil, err
	}
	if _, err := d.special(ctx, ""); err != nil {
		return nil, err
	}
	m, err := d.git.shadow(d.repo, settings)
	if err != nil {
		return nil, err
	}
	commit, err := d.commit(ctx, base)
	if err != nil {
		return nil, err
	}
	if err := d.index(ctx, m); err != nil {
		return nil, err
	}
	command := m.command(d.real, slices.Concat([]string{"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--relative",
		"--submodule=short", "--ignore-submodules=dirty"}, args, []string{commit, "--"}, paths)...)
	command.limit = max(d.limit, 1)
	command.env = append(slices.Clone(m.env), "GIT_LITERAL_PATHSPECS=0") // The paths are our own patterns.
	out, err := d.git.run(ctx, command)
	if err != nil {
		return nil, err
	}
	if out.code != 0 && !out.truncated {
		return nil, unreadable(".", fmt.Errorf("git diff: %q (exit code %d)", strings.TrimSpace(out.stderr), out.code))
	}
	return out.output, nil
}

// emptyBlob is the id of an empty file.
func (m *shadowRepo) emptyBlob() string {
	if m.format == sha256Format {
		return "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"
	}
	return "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
}

// index gives the shadow an index of its own: the repository's, with untracked files that
// count and without flags and times that hide a change. The author of the draft could
// also write the index, and git trusts its times.
func (d *comparison) index(ctx context.Context, m *shadowRepo) error {
	own, err := os.OpenRoot(d.repo.dir)
	if err != nil {
		return unreadable(gitFolder, err)
	}
	defer own.Close()
	if err := m.copy(own, "index"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unreadable(path.Join(gitFolder, "index"), err)
	}
	m.env = append(m.env, "GIT_INDEX_FILE="+filepath.Join(m.dir, "index"))
	lines, err := d.git.create("entries")
	if err != nil {
		return err
	}
	defer lines.Close()
	changes, err := d.entries(ctx, m, lines)
	if err != nil || changes == 0 {
		return err
	}
	if _, err := lines.Seek(0, io.SeekStart); err != nil {
		return unreadable(".", err)
	}
	command := m.command(d.real, "update-index", "--replace", "-z", "--index-info")
	command.input = lines
	_, err = d.git.runOK(ctx, command)
	return err
}

// entries writes entries for git update-index, for untracked and hidden files, and
// returns their number. A rewritten entry has no flags and times, so that git reads its
// file.
func (d *comparison) entries(ctx context.Context, m *shadowRepo, w io.Writer) (int, error) {
	out, err := d.git.runOK(ctx, m.command(d.real, "ls-files", "-z", "-v", "--stage", "--cached", "--others", "--exclude-standard"))
	if err != nil {
		return 0, err
	}
	n := 0
	err = records(out, func(text string) error {
		e, err := parseEntry(text)
		if err != nil {
			return unreadable(".", err)
		}
		conflict := !e.untracked() && e.stage != "0"
		if conflict || e.mode == gitlink || strings.HasSuffix(e.path, "/") || !d.counts(e.path) {
			return nil
		}
		if hidden := e.tag == 'h' || e.tag == 's' || e.tag == 'S'; hidden || e.untracked() {
			f, err := d.dirs.there(e.path)
			if err != nil || f == nil { // A file that is not checked out was not deleted.
				return err
			}
			if e.untracked() {
				e.mode, e.oid = gitMode(f.mode), m.emptyBlob()
			}
		}
		n++
		_, err = fmt.Fprintf(w, "%s %s 0\t%s\x00", e.mode, e.oid, path.Join(d.prefix, e.path))
		return err
	})
	return n, err
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
func cut(w io.Writer, r io.ReadSeeker, limit int64) error {
	size, err := r.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	notice := ""
	if size > limit {
		notice = cutNotice
		if size, err = lastLine(r, max(limit-int64(len(notice)), 0)); err != nil {
			return err
		}
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if _, err := io.CopyN(w, r, size); err != nil {
		return err
	}
	_, err = io.WriteString(w, notice[:min(int64(len(notice)), max(limit, 0))])
	return err
}

// lastLine returns the end of the last line that ends within the first size bytes.
func lastLine(r io.ReadSeeker, size int64) (int64, error) {
	buffer := make([]byte, 32<<10)
	for size > 0 {
		part := buffer[:min(int64(len(buffer)), size)]
		if _, err := r.Seek(size-int64(len(part)), io.SeekStart); err != nil {
			return 0, err
		}
		if _, err := io.ReadFull(r, part); err != nil {
			return 0, err
		}
		for i := len(part) - 1; i >= 0; i-- {
			if part[i] == '\n' {
				return size - int64(len(part)-1-i), nil
			}
		}
		size -= int64(len(part))
	}
	return 0, nil
}
