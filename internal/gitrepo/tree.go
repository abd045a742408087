package gitrepo

import (
	"context"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/gitcmd"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// attributesFile says how git converts the files in its directory and below.
const attributesFile = ".gitattributes"

// WriteTree stores the tracked files of a worktree, and the untracked ones that are not
// ignored, and returns their tree. It only reads the worktree's index. Flags of the index
// that hide a change of a file have no effect. A file with the bytes that HEAD has is stored
// as there, even if git would convert it.
//
// # Errors
//
// worktree-missing; repository-nested if the worktree has a repository that its commit does
// not have, or a file in a submodule that is not checked out; draft-protected if files were
// stored as a .gitattributes says that the tree does not have, or if the index has changes of
// files that the worktree does not have; and git-object-invalid if the repository had other
// contents in the place of a file's.
func (r *Repo) WriteTree(ctx context.Context, dir string) (tree string, err error) {
	p, err := r.place(dir)
	if err != nil {
		return "", err
	}
	if saved := r.savedIndex(p); saved != nil {
		tree, err = r.writeTree(ctx, p, saved)
		var changes []change
		if err == nil {
			changes, err = r.diffTrees(ctx, p, saved.tree, tree)
		}
		// Attributes change what git stores of files that it did not read now.
		attributed := slices.ContainsFunc(changes, func(c change) bool { return path.Base(c.name) == attributesFile })
		// It fails if git has collected an object that it names.
		if failureOf(err) == nil && !attributed {
			return tree, err
		}
	}
	return r.writeTree(ctx, p, nil)
}

// CheckoutTree is WriteTree for the checkout that the repository was opened for. It does not
// leave an index.
func (r *Repo) CheckoutTree(ctx context.Context) (string, error) {
	return r.checkoutTree(ctx, false)
}

// QuickCheckoutTree is CheckoutTree without reading files that have the times of the checkout's
// index, which every process of the user can write.
func (r *Repo) QuickCheckoutTree(ctx context.Context) (string, error) {
	return r.checkoutTree(ctx, true)
}

func (r *Repo) checkoutTree(ctx context.Context, quick bool) (tree string, err error) {
	err = inTemp(func(dir string) error {
		index := filepath.Join(dir, "index")
		if err := copyIndex(filepath.Join(r.checkout.git, "index"), index); err != nil {
			return unwritable(err)
		}
		p, run := r.checkout, r.withIndex(ctx, r.checkout, index)
		entries, submodules, err := listEntries(run)
		if err == nil && quick {
			entries, err = stagedEntries(run)
		}
		if err == nil {
			err = forgetTimes(p, run, entries)
		}
		if err == nil {
			err = addFiles(p, run, submodules)
		}
		if err != nil {
			return err
		}
		changes, err := stagedChanges(run)
		if err == nil {
			_, err = keepUnconverted(p, run, changes)
		}
		if err == nil {
			tree, err = storeTree(run)
		}
		return err
	})
	return tree, err
}

// writeTree is WriteTree with a saved index, or with the worktree's own if saved is nil.
func (r *Repo) writeTree(ctx context.Context, p place, saved *savedIndex) (tree string, err error) {
	err = inTemp(func(dir string) error {
		index := filepath.Join(dir, "index")
		run := r.withIndex(ctx, p, index)
		own, submodules, err := beginIndex(p, run, index, saved)
		if err != nil {
			return err
		}
		if err := addFiles(p, run, submodules); err != nil {
			return err
		}
		for stored := false; !stored; {
			var changes []change
			if tree, err = storeTree(run); err != nil {
				return err
			}
			if changes, err = r.diffTrees(ctx, p, "HEAD", tree); err != nil {
				return err
			}
			if err := r.checkObjects(ctx, p, "HEAD", tree, changes); err != nil {
				return err
			}
			if stored, err = keepUnconverted(p, run, changes); err != nil {
				return err
			}
		}
		if err := r.saveIndex(p, index, own, tree); err != nil {
			return unwritable(err)
		}
		return nil
	})
	return tree, err
}

// beginIndex writes an index with the entries and flags of the worktree's own: they say what git
// commits of ignored files, of submodules that are not checked out, and of what a sparse checkout
// leaves out. If these are the same as when saved was saved, it has the times that saved has for
// files that are as in HEAD. A content may change without a time. It returns the digest of the
// entries, and the submodules.
func beginIndex(p place, run onIndex, index string, saved *savedIndex) (own string, submodules []string, err error) {
	file := filepath.Join(p.git, "index")
	if err := copyIndex(file, index); err != nil {
		return "", nil, unwritable(err)
	}
	out, err := run("", "ls-files", "-z", "-v", "--stage")
	if err != nil {
		return "", nil, err
	}
	own = digest.Of(out)
	entries, submodules := parseEntries(out)
	if saved != nil && saved.own == own {
		if err := saved.write(index); err != nil {
			return "", nil, unwritable(err)
		}
		restored, err := restoreEntries(run, out)
		if err != nil {
			return "", nil, err
		}
		if restored {
			entries, err = stagedEntries(run)
		} else if err = copyIndex(file, index); err != nil {
			err = unwritable(err)
		}
		if err != nil {
			return "", nil, err
		}
	}
	return own, submodules, forgetTimes(p, run, entries)
}

// restoreEntries gives an index the entries of a listing. Those that change have no times then. It
// does nothing and returns false if one of them has a flag or a conflict.
func restoreEntries(run onIndex, listing string) (bool, error) {
	now, err := run("", "ls-files", "-z", "-v", "--stage")
	if err != nil {
		return false, err
	}
	others := make(map[string]bool)
	for _, entry := range records(now) {
		others[entry] = true
	}
	var removed, added strings.Builder
	for _, entry := range records(listing) {
		if !others[entry] {
			if !strings.HasPrefix(entry, "H ") || !strings.Contains(entry, " 0\t") {
				return false, nil
			}
			added.WriteString(entry[2:] + "\x00")
		}
		delete(others, entry)
	}
	for entry := range others {
		attributes, name, _ := strings.Cut(entry, "\t") // TAG MODE ID STAGE
		removed.WriteString("0 " + strings.Fields(attributes)[2] + "\t" + name + "\x00")
	}
	if removed.Len()+added.Len() == 0 {
		return true, nil
	}
	_, err = run(removed.String()+added.String(), "update-index", "-z", "--index-info")
	return true, err
}

// onIndex runs git with an index of its own.
type onIndex func(input string, args ...string) (string, error)

func (r *Repo) withIndex(ctx context.Context, p place, index string) onIndex {
	env := []string{"GIT_INDEX_FILE=" + index}
	return func(input string, args ...string) (string, error) {
		return r.run(ctx, command{place: p, args: args, env: env, input: input, limit: slow})
	}
}

// storeTree stores the tree of an index.
func storeTree(run onIndex) (string, error) {
	tree, err := run("", "write-tree")
	return strings.TrimSpace(tree), err
}

// addFiles adds all files to an index with these submodules. Git reads the files whose times
// differ from those in the index.
func addFiles(p place, run onIndex, submodules []string) error {
	if err := addAll(run, submodules); err != nil {
		return err
	}
	hidden, submodules, err := checkEntries(p, run)
	if err != nil || hidden == "" {
		return err
	}
	// Each flag needs a command of its own.
	for _, flag := range []string{"--no-assume-unchanged", "--no-skip-worktree"} {
		if _, err := run(hidden, "update-index", flag, "-z", "--stdin"); err != nil {
			return err
		}
	}
	return addAll(run, submodules)
}

// keepUnconverted restores the entries of files that have the same bytes as in HEAD. If an
// attribute was added after such a file was committed, git converts the file. done says that
// there was nothing to restore. It fails if a flag made git keep an entry whose file is
// missing: the draft was tested without the file.
func keepUnconverted(p place, run onIndex, changes []change) (done bool, err error) {
	for _, c := range changes {
		if c.mode != noMode && c.mode != directoryMode && !exists(filepath.Join(p.top, filepath.FromSlash(c.name))) {
			return false, errs.New(errs.DraftProtected, "the index has a change of %s, which is not among the files", textutil.Line(c.name)).
				With("paths", []string{c.name}).
				WithHint("run git reset -- FILE there, or write the file; for a task, run switchyard resume TASK then")
		}
	}
	isOther := func(c change) bool { return c.oldID == c.id || !strings.HasPrefix(c.mode, "100") }
	if changes = slices.DeleteFunc(changes, isOther); len(changes) == 0 {
		return true, nil
	}
	var files, unconverted strings.Builder
	for _, c := range changes {
		files.WriteString(`"` + gitcmd.Quote.Replace(c.name) + "\"\n")
	}
	out, err := run(files.String(), "hash-object", "--no-filters", "--stdin-paths")
	if err != nil {
		return false, err
	}
	for i, id := range strings.Fields(out) {
		if c := changes[i]; id == c.oldID {
			unconverted.WriteString(c.mode + " " + id + "\t" + c.name + "\x00")
		}
	}
	if unconverted.Len() == 0 {
		return true, nil
	}
	_, err = run(unconverted.String(), "update-index", "-z", "--index-info")
	return false, err
}

// indexEntry is an entry of an index without a conflict.
type indexEntry struct{ mode, id, name string }

// listEntries lists the entries of an index, and its submodules.
func listEntries(run onIndex) (entries []indexEntry, submodules []string, err error) {
	out, err := run("", "ls-files", "-z", "-v", "--stage")
	entries, submodules = parseEntries(out)
	return entries, submodules, err
}

// parseEntries parses git's listing of an index. The submodules include those with a conflict.
func parseEntries(out string) (entries []indexEntry, submodules []string) {
	for _, text := range records(out) {
		attributes, name, _ := strings.Cut(text, "\t") // TAG MODE ID STAGE
		fields := strings.Fields(attributes)
		if len(fields) != 4 {
			continue
		}
		if fields[1] == gitcmd.Gitlink {
			submodules = append(submodules, name)
		}
		if fields[3] == "0" {
			entries = append(entries, indexEntry{fields[1], fields[2], name})
		}
	}
	return entries, submodules
}

// stagedChanges lists how an index differs from the commit.
func stagedChanges(run onIndex) ([]change, error) {
	out, err := run("", "diff-index", "--cached", "-z", "--no-renames", "--ignore-submodules=none", "HEAD")
	return parseChanges(out), err
}

// stagedEntries lists the entries of an index that differ from the commit.
func stagedEntries(run onIndex) (entries []indexEntry, err error) {
	changes, err := stagedChanges(run)
	for _, c := range changes {
		if c.mode != noMode {
			entries = append(entries, c.indexEntry)
		}
	}
	return entries, err
}

// forgetTimes removes the times of entries, so that git reads their files. Git trusts the
// times in the index, which the agent that wrote the draft could write too.
func forgetTimes(p place, run onIndex, entries []indexEntry) error {
	var unread strings.Builder
	for _, e := range entries {
		if exists(filepath.Join(p.top, filepath.FromSlash(e.name))) {
			unread.WriteString(e.mode + " " + e.id + "\t" + e.name + "\x00")
		}
	}
	if unread.Len() == 0 {
		return nil
	}
	_, err := run(unread.String(), "update-index", "-z", "--index-info")
	return err
}

// addAll adds all files, and the commits of submodules. To find changes of files, git would
// run git status in the submodules, and so start programs that their settings name. These
// may be an agent's.
func addAll(run onIndex, submodules []string) (err error) {
	if len(submodules) == 0 {
		_, err = run("", "add", "--all", "--sparse")
	} else {
		outside := ":(top)\x00:(top,exclude,literal)" + strings.Join(submodules, "\x00:(top,exclude,literal)")
		if _, err = run(outside, "add", "--all", "--sparse", "--pathspec-from-file=-", "--pathspec-file-nul"); err == nil {
			_, err = run(strings.Join(submodules, "\x00"), "update-index", "--add", "--remove", "--ignore-skip-worktree-entries", "-z", "--stdin")
		}
	}
	if err == nil {
		return nil
	}
	// Git cannot add a repository without a commit. It lists each with a slash.
	if out, listErr := run("", "ls-files", "-z", "--others", "--exclude-standard"); listErr == nil {
		for _, name := range records(out) {
			if strings.HasSuffix(name, "/") {
				return errNested(name)
			}
		}
	}
	return err
}

// checkEntries returns the names, in a form that git reads, of the files of the working tree
// that flags of the index hide from git, and the submodules. It fails at a nested repository,
// and at attributes of files that the index does not have.
func checkEntries(p place, run onIndex) (hidden string, submodules []string, err error) {
	entries, err := run("", "ls-files", "-z", "-v", "--stage")
	if err != nil {
		return "", nil, err
	}
	var names strings.Builder
	attributed := make(map[string]bool) // by directory: whether the index has its .gitattributes
	for _, entry := range records(entries) {
		attributes, name, _ := strings.Cut(entry, "\t")
		if len(attributes) < 2 {
			continue
		}
		for dir := path.Dir(name); ; dir = path.Dir(dir) {
			if _, ok := attributed[dir]; ok {
				break
			}
			attributed[dir] = false
		}
		if path.Base(name) == attributesFile {
			attributed[path.Dir(name)] = true
		}
		tag := attributes[0]
		if tag == 'h' || strings.ContainsRune("sS", rune(tag)) && exists(filepath.Join(p.top, filepath.FromSlash(name))) {
			names.WriteString(name + "\x00")
		}
		if strings.HasPrefix(attributes[2:], gitcmd.Gitlink) {
			submodules = append(submodules, name)
			was, err := run("", "ls-tree", "-z", "HEAD", "--", ":(top,literal)"+name)
			if err != nil {
				return "", nil, err
			}
			if !strings.HasPrefix(was, gitcmd.Gitlink) {
				return "", nil, errNested(name)
			}
			if err := checkSubmodule(p, name); err != nil {
				return "", nil, err
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(attributed)) {
		file := path.Join(dir, attributesFile)
		if !attributed[dir] && exists(filepath.Join(p.top, filepath.FromSlash(file))) {
			return "", nil, errs.New(errs.DraftProtected, "git ignores %s, which changes how files are committed", textutil.Line(file)).
				With("paths", []string{file})
		}
	}
	return names.String(), submodules, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// isEmpty reports whether a directory is empty or missing.
func isEmpty(dir string) bool {
	entries, _ := os.ReadDir(dir)
	return len(entries) == 0
}

func errNested(name string) error {
	return errs.New(errs.RepositoryNested, "%s in the worktree is a git repository, whose files cannot be committed", textutil.Line(name)).
		With("path", name)
}

// checkSubmodule fails if a submodule is not checked out and has files, which git does not see.
func checkSubmodule(p place, name string) error {
	dir := filepath.Join(p.top, filepath.FromSlash(name))
	// Git commits a file or a link in the place of a submodule.
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() || isEmpty(dir) || isCheckedOut(dir) {
		return nil
	}
	return errs.New(errs.RepositoryNested, "%s is the directory of a submodule that is not checked out, so that git cannot commit its files", textutil.Line(dir)).
		With("path", name).WithHint("delete the files in that directory and run the command again; if the task is stuck, switchyard resume TASK --manual lets it continue")
}

// isCheckedOut reports whether a submodule is checked out. Git ignores a .git that is an empty
// directory.
func isCheckedOut(dir string) bool {
	link := filepath.Join(dir, ".git")
	info, err := os.Stat(link)
	return err == nil && (!info.IsDir() || exists(filepath.Join(link, "HEAD")))
}
