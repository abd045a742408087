//go:build unix

package gitrepo_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/gitrepo"
)

func TestWriteTree(t *testing.T) {
	s := newScene(t)
	s.write(filepath.Join(s.dir, "gone.txt"), "x\n")
	s.write(filepath.Join(s.dir, "turns"), "a file\n")
	s.write(filepath.Join(s.dir, "assumed.txt"), "x\n")
	s.write(filepath.Join(s.dir, "skipped.txt"), "x\n")
	s.git(s.dir, "add", "-A")
	s.git(s.dir, "commit", "-q", "-m", "second")
	r := s.open()
	w := s.add(r, "T")
	s.equal(s.tree(r, w), s.git(s.dir, "rev-parse", "HEAD^{tree}"))

	s.write(s.file(w, "a.txt"), "two\n")
	s.write(s.file(w, "dir/new\n\"ü\""), "new\n")
	s.write(s.file(w, "ignored.log"), "x\n")
	s.must(os.Remove(s.file(w, "gone.txt")))
	s.must(os.Remove(s.file(w, "turns")))
	s.write(s.file(w, "turns/into a directory"), "x\n")
	s.must(os.Symlink("a.txt", s.file(w, "link")))
	s.must(os.WriteFile(s.file(w, "run.sh"), nil, 0o755))
	s.git(w.Path, "update-index", "--assume-unchanged", "assumed.txt")
	s.git(w.Path, "update-index", "--skip-worktree", "skipped.txt")
	s.write(s.file(w, "assumed.txt"), "hidden\n")
	s.write(s.file(w, "skipped.txt"), "hidden\n")
	index, err := os.ReadFile(filepath.Join(s.dir, ".git", "worktrees", "T", "index"))
	s.must(err)
	tree := s.tree(r, w)
	s.equal(s.git(s.dir, "diff-tree", "-r", "-z", "--name-status", "--no-renames", "main", tree), strings.Join([]string{
		"M", "a.txt", "M", "assumed.txt", "A", "dir/new\n\"ü\"", "D", "gone.txt", "A", "link", "A", "run.sh", "M", "skipped.txt", "D", "turns", "A", "turns/into a directory", "",
	}, "\x00"))
	s.equal(strings.Fields(s.git(s.dir, "ls-tree", tree, "run.sh"))[0], "100755")
	after, err := os.ReadFile(filepath.Join(s.dir, ".git", "worktrees", "T", "index"))
	s.must(err)
	if string(index) != string(after) {
		t.Error("the worktree's index changed")
	}

	// What git collected meanwhile is written again.
	s.git(s.dir, "gc", "-q", "--prune=now")
	s.equal(s.tree(r, w), tree)
	s.git(s.dir, "ls-tree", "-r", tree)

	// Another process has no saved index, and without an index all files are read.
	s.equal(s.tree(s.open(), w), tree)
	s.must(os.Remove(filepath.Join(s.dir, ".git", "worktrees", "T", "index")))
	s.equal(s.tree(s.open(), w), tree)

	// A .git of an agent's own leads nowhere.
	s.must(os.Remove(s.file(w, ".git")))
	s.git(w.Path, "init", "-q")
	s.equal(s.tree(r, w), tree)
	s.must(os.RemoveAll(w.Path))
	_, err = r.WriteTree(t.Context(), w.Path)
	s.want(err, errs.WorktreeMissing)
}

// An agent may have written the index, whose times say that a file is what the index names:
// another content, or that of the commit.
func TestWriteTreeDistrustsTheIndex(t *testing.T) {
	for _, hidden := range []string{"hidden", "one"} {
		s := newScene(t)
		w := s.add(s.open(), "T")
		s.write(s.file(w, "a.txt"), hidden+"\n")
		id := s.git(w.Path, "hash-object", "-w", "a.txt")
		s.write(s.file(w, "a.txt"), "reviewed\n")
		s.git(w.Path, "add", "a.txt")
		index := s.git(w.Path, "rev-parse", "--path-format=absolute", "--git-path", "index")
		text, err := os.ReadFile(index)
		s.must(err)
		from, err := hex.DecodeString(s.git(w.Path, "rev-parse", ":a.txt"))
		s.must(err)
		to, err := hex.DecodeString(id)
		s.must(err)
		s.must(os.WriteFile(index, bytes.Replace(text, from, to, 1), 0o600))
		s.must(os.Chtimes(index, time.Now().Add(time.Hour), time.Now().Add(time.Hour))) // Git reads files as new as it.
		if got := s.git(w.Path, "diff", "--name-only"); got != "" {
			t.Fatalf("git itself sees %s", got)
		}
		r := s.open()
		s.equal(s.git(w.Path, "show", s.tree(r, w)+":a.txt"), "reviewed")

		// The next tree has a change of which only the time of the inode tells.
		info, err := os.Stat(s.file(w, "a.txt"))
		s.must(err)
		s.git(w.Path, "config", "core.trustctime", "false")
		s.write(s.file(w, "a.txt"), "rewieved\n")
		s.must(os.Chtimes(s.file(w, "a.txt"), info.ModTime(), info.ModTime()))
		s.equal(s.git(w.Path, "show", s.tree(r, w)+":a.txt"), "rewieved")
	}
}

// The files are as git read them, so that another content, which a process showed only while
// the tree was stored, can be told.
func TestStoredFiles(t *testing.T) {
	s := newScene(t)
	s.write(filepath.Join(s.dir, "dos.txt"), "one\r\n")
	s.git(s.dir, "add", "-A")
	s.git(s.dir, "commit", "-q", "-m", "second")
	r := s.open()
	w := s.add(r, "T")
	if _, err := r.StoredFiles(t.Context(), w.Path); err == nil {
		t.Error("there is an answer before a tree was stored")
	}
	s.write(s.file(w, ".gitattributes"), "*.txt text=auto\n") // dos.txt stays as it is.
	s.write(s.file(w, "new\n\t\"ü\"/flags: 0"), "two\n")
	s.must(os.Symlink("nowhere", s.file(w, "link")))
	for range 2 { // The second time there is a saved index.
		s.tree(r, w)
		files, err := r.StoredFiles(t.Context(), w.Path)
		s.must(err)
		var names []string
		for _, f := range files {
			names = append(names, f.Path)
			var is unix.Stat_t
			s.must(unix.Lstat(s.file(w, f.Path), &is))
			if f.Path == "dos.txt" && f.Changed == 0 {
				continue // Its entry was restored, without the times.
			}
			if f.Changed != is.Ctim.Nano() || f.Inode != uint32(is.Ino) {
				t.Errorf("%q is %+v, want the time %d and the number %d", f.Path, f, is.Ctim.Nano(), is.Ino)
			}
		}
		s.equal(fmt.Sprintf("%q", names), fmt.Sprintf("%q", []string{".gitattributes", ".gitignore", "a.txt", "dos.txt", "link", "new\n\t\"ü\"/flags: 0"}))
	}
}

func TestNestedRepository(t *testing.T) {
	for name, prepare := range map[string]func(s *scene, w gitrepo.Worktree){
		"without a commit": func(*scene, gitrepo.Worktree) {},
		"with a commit": func(s *scene, w gitrepo.Worktree) {
			s.git(s.file(w, "nested repo"), "commit", "-q", "--allow-empty", "-m", "x")
		},
		"added": func(s *scene, w gitrepo.Worktree) {
			s.git(s.file(w, "nested repo"), "commit", "-q", "--allow-empty", "-m", "x")
			s.git(w.Path, "add", "nested repo")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			r := s.open()
			w := s.add(r, "T")
			s.git(w.Path, "init", "-q", "nested repo")
			s.write(s.file(w, "nested repo/file"), "x\n")
			prepare(s, w)
			_, err := r.WriteTree(t.Context(), w.Path)
			s.want(err, errs.RepositoryNested)
		})
	}
}

// TestUnconvertedFiles: git does not convert an unchanged file, even if an attribute that was
// added later asks for it.
func TestUnconvertedFiles(t *testing.T) {
	s := newScene(t)
	for _, name := range []string{"crlf.txt", "d\n\\\"ü/crlf.txt", "edited.txt", "run.txt", "raw.bin"} {
		s.write(filepath.Join(s.dir, name), "one\r\n")
	}
	s.git(s.dir, "add", "-A")
	s.write(filepath.Join(s.dir, ".gitattributes"), "*.txt text\n*.bin filter=upper\n")
	s.git(s.dir, "add", ".gitattributes")
	s.git(s.dir, "commit", "-q", "-m", "second")
	s.git(s.dir, "config", "filter.upper.clean", "tr a-z A-Z")
	r := s.open()
	w := s.add(r, "T")
	for range 2 { // The second time there is a saved index.
		s.equal(s.tree(r, w), s.git(s.dir, "rev-parse", "HEAD^{tree}"))
	}
	s.write(s.file(w, "edited.txt"), "two\r\n")
	s.must(os.Chmod(s.file(w, "run.txt"), 0o755))
	commit := s.commit(r, w, "1")
	s.equal(s.git(s.dir, "diff-tree", "-r", "--name-only", "main", commit), "edited.txt\nrun.txt")
	s.equal(s.git(s.dir, "ls-tree", "--format=%(objectmode) %(objectname)", commit, "run.txt"), "100755 "+s.git(s.dir, "rev-parse", "HEAD:run.txt"))
	s.equal(s.git(s.dir, "cat-file", "-s", commit+":edited.txt"), "4")
	s.must(r.RemoveWorktree(t.Context(), w, commit))
}

// Attributes that the commit does not have must not change it.
func TestIgnoredAttributes(t *testing.T) {
	s := newScene(t)
	s.write(filepath.Join(s.dir, "src/ü/auth.py"), "x\n")
	s.write(filepath.Join(s.dir, "attributed/.gitattributes"), "* text\n")
	s.git(s.dir, "add", "-A")
	s.git(s.dir, "commit", "-q", "-m", "second")
	r := s.open()
	w := s.add(r, "T")
	s.write(s.file(w, "attributed/.gitattributes"), "* -text\n")
	s.write(s.file(w, "ignored/.gitignore"), "*\n")
	s.write(s.file(w, "ignored/.gitattributes"), "* ident\n") // It is about no file of the commit.
	tree := s.tree(r, w)
	for name, attributes := range map[string]string{"": "*.py working-tree-encoding=UTF-16LE\n", "src": "* filter=lfs\n", "src/ü": "auth.py ident\n"} {
		ignore, file := filepath.Join(w.Path, name, ".gitignore"), filepath.Join(w.Path, name, ".gitattributes")
		before, err := os.ReadFile(ignore)
		s.write(ignore, ".gitignore\n.gitattributes\n")
		s.write(file, attributes)
		_, treeErr := r.WriteTree(t.Context(), w.Path)
		s.want(treeErr, errs.DraftProtected)
		s.must(os.Remove(file))
		s.must(os.Remove(ignore))
		if err == nil {
			s.write(ignore, string(before))
		}
	}
	s.equal(s.tree(r, w), tree)
}

// The index of an agent may have files that the worktree, where the draft was tested, lacks.
func TestIndexWithAMissingFile(t *testing.T) {
	s := newScene(t)
	s.git(s.dir, "update-index", "--add", "--cacheinfo", "160000,"+s.git(s.dir, "rev-parse", "HEAD")+",lib")
	s.git(s.dir, "commit", "-q", "-m", "a submodule")
	r := s.open()
	for i, entry := range []string{"100644,HEAD:a.txt,new.txt", "120000,HEAD:a.txt,new", "100755,HEAD:a.txt,a.txt", "160000,HEAD,lib"} {
		w := s.add(r, fmt.Sprint(i))
		mode, name := entry[:6], entry[strings.LastIndex(entry, ",")+1:]
		id := s.git(w.Path, "rev-parse", strings.TrimSuffix(entry[7:], ","+name))
		s.must(os.RemoveAll(s.file(w, name)))
		s.git(w.Path, "update-index", "--add", "--cacheinfo", mode+","+id+","+name)
		s.git(w.Path, "update-index", "--skip-worktree", name)
		_, err := r.WriteTree(t.Context(), w.Path)
		s.want(err, errs.DraftProtected)
	}
}

// A later draft of the same process can take back, or add, what only the index has.
func TestWriteTreeFollowsTheIndex(t *testing.T) {
	s := newScene(t)
	s.git(s.dir, "update-index", "--add", "--cacheinfo", "160000,"+s.git(s.dir, "rev-parse", "HEAD")+",lib")
	s.git(s.dir, "commit", "-q", "-m", "a submodule")
	before := s.git(s.dir, "rev-parse", "HEAD^{tree}")
	r := s.open()
	w := s.add(r, "T")
	s.write(s.file(w, "ignored.log"), "x\n")
	s.equal(s.tree(r, w), before)
	for _, args := range [][]string{{"rm", "-q", "--cached", "lib"}, {"add", "-f", "ignored.log"}} {
		s.git(w.Path, args...)
		changed := s.tree(r, w)
		if changed == before {
			t.Errorf("after git %v the tree has no change", args)
		}
		s.equal(s.tree(s.open(), w), changed)
		s.git(w.Path, "reset", "-q")
		s.equal(s.tree(r, w), before)
	}
}

// A later draft of the same process can have git ignore what an earlier one added or removed.
func TestWriteTreeFollowsIgnoredFiles(t *testing.T) {
	s := newScene(t)
	s.write(filepath.Join(s.dir, "kept.log"), "x\n")
	s.git(s.dir, "add", "-A", "-f")
	s.git(s.dir, "commit", "-q", "-m", "an ignored file")
	r := s.open()
	w := s.add(r, "T")
	s.write(s.file(w, "dir/new.txt"), "new\n")
	s.must(os.Remove(s.file(w, "kept.log")))
	s.tree(r, w)
	s.write(s.file(w, "dir/.gitignore"), "new.txt\n")
	s.write(s.file(w, "kept.log"), "other\n")
	tree := s.tree(r, w)
	s.equal(s.git(s.dir, "diff-tree", "-r", "--name-status", "main", tree), "A\tdir/.gitignore\nM\tkept.log")
	s.equal(s.tree(s.open(), w), tree)
}

// A .gitattributes changes what git stores of files that do not change, also in a later tree of
// the same process.
func TestWriteTreeFollowsAttributes(t *testing.T) {
	s := newScene(t)
	s.write(filepath.Join(s.dir, ".gitattributes"), "*.txt eol=crlf\n")
	s.git(s.dir, "add", "-A")
	s.git(s.dir, "commit", "-q", "-m", "attributes")
	r := s.open()
	w := s.add(r, "T")
	s.must(os.Chtimes(s.file(w, "a.txt"), time.Unix(1, 0), time.Unix(1, 0))) // Git does not read it for being new.
	before := s.tree(r, w)
	s.write(s.file(w, ".gitattributes"), "*.txt -text\n")
	for _, repo := range []*gitrepo.Repo{r, s.open()} {
		s.equal(s.git(w.Path, "rev-parse", s.tree(repo, w)+":a.txt"), s.git(w.Path, "hash-object", "--no-filters", "a.txt"))
	}
	s.write(s.file(w, ".gitattributes"), "*.txt eol=crlf\n")
	s.equal(s.tree(r, w), before)
}

// Git reads a file again whose times did not change, but the times in an index need not tell: it
// may compare whole seconds, and every process can set back the time of a content.
func TestWriteTreeReadsTheDraftAgain(t *testing.T) {
	s := newScene(t)
	r := s.open()
	w := s.add(r, "T")
	old := time.Unix(1e9, 0)
	for range 3 { // The second may end in between.
		for now := time.Now(); now.Nanosecond() > 1e8; now = time.Now() {
			time.Sleep(10 * time.Millisecond)
		}
		for _, text := range []string{"first", "other"} {
			f, err := os.OpenFile(s.file(w, "a.txt"), os.O_WRONLY|os.O_TRUNC, 0)
			s.must(err)
			_, err = f.WriteString(text)
			s.must(errors.Join(err, f.Close()))
			s.must(os.Chtimes(s.file(w, "a.txt"), old, old))
			s.equal(s.git(w.Path, "cat-file", "-p", s.tree(r, w)+":a.txt"), text)
		}
	}
}

// A sparse checkout can leave out a file that is assumed to be unchanged.
func TestAssumedFileOutsideSparseCheckout(t *testing.T) {
	s := newScene(t)
	s.write(filepath.Join(s.dir, "out", "x"), "x\n")
	s.git(s.dir, "add", "-A")
	s.git(s.dir, "commit", "-q", "-m", "second")
	s.git(s.dir, "update-index", "--assume-unchanged", "out/x")
	s.git(s.dir, "sparse-checkout", "set", "in")
	tree, err := s.open().CheckoutTree(t.Context())
	s.must(err)
	s.equal(tree, s.git(s.dir, "rev-parse", "HEAD^{tree}"))
}

// A person may merge in the worktree of a task while the same process goes on.
func TestMergeOutsideSparseCheckout(t *testing.T) {
	s := newScene(t)
	s.write(filepath.Join(s.dir, "in", "x"), "x\n")
	s.git(s.dir, "add", "-A")
	s.git(s.dir, "commit", "-q", "-m", "second")
	s.git(s.dir, "sparse-checkout", "set", "in")
	r := s.open()
	w := s.add(r, "T")
	s.tree(r, w)
	s.write(filepath.Join(s.dir, "out", "new"), "new\n")
	s.git(s.dir, "add", "--all", "--sparse")
	s.git(s.dir, "commit", "-q", "-m", "third")
	s.git(w.Path, "merge", "-q", "main")
	s.equal(s.tree(r, w), s.git(s.dir, "rev-parse", "main^{tree}"))

	s.git(w.Path, "sparse-checkout", "set", "other")
	s.equal(s.tree(r, w), s.git(s.dir, "rev-parse", "main^{tree}"))
}

// TestReadCommitIsUTF8 tests that git's encoding of the user's log is not that of a commit's
// subject.
func TestReadCommitIsUTF8(t *testing.T) {
	s := newScene(t)
	r := s.open()
	s.git(s.dir, "config", "i18n.logOutputEncoding", "ISO-8859-1")
	s.git(s.dir, "commit", "-q", "--allow-empty", "-m", "Größe")
	read, err := r.ReadCommit(t.Context(), "main")
	s.must(err)
	s.equal(read.Subject, "Größe")
}

// The checkout's index can have the times of a file with other contents.
func TestCheckoutTreeReadsAllFiles(t *testing.T) {
	s := newScene(t)
	s.write(filepath.Join(s.base, "attributes"), "a.txt filter=one\n")
	old := time.Unix(1, 0)
	s.write(filepath.Join(s.dir, "a.txt"), "forged\n")
	s.must(os.Chtimes(filepath.Join(s.dir, "a.txt"), old, old)) // So git does not read it for being new.
	s.git(s.dir, "-c", "filter.one.clean=cat >/dev/null; echo one", "-c", "core.attributesFile="+filepath.Join(s.base, "attributes"), "add", "a.txt")
	s.equal(s.git(s.dir, "status", "--porcelain"), "")
	tree, err := s.open().CheckoutTree(t.Context())
	s.must(err)
	s.equal(s.git(s.dir, "cat-file", "-p", tree+":a.txt"), "forged")
}

func TestCommit(t *testing.T) {
	s := newScene(t)
	r := s.open()
	before := s.state()
	w := s.add(r, "T")
	s.git(s.dir, "config", "trailer.separators", "#")
	s.write(s.file(w, "a.txt"), "two\n")
	s.write(s.file(w, "new.txt"), "new\n")
	c := s.request(r, w, "sha256:1")
	c.Message = "Subject\n\nA body with a forged trailer\n\nSwitchyard-Decision: sha256:forged\n# no comment\n---\n"
	c.Trailers = append(c.Trailers, gitrepo.Trailer{Key: "Switchyard-Deferred", Value: "two\nlines\u202e"}, gitrepo.Trailer{Key: "Switchyard-Deferred", Value: "b"})
	commit, err := r.Commit(t.Context(), w, c)
	s.must(err)
	s.wantWorktree(w, commit)
	s.git(w.Path, "diff-files", "--quiet")
	s.equal(s.git(s.dir, "log", "-1", "--format=%an <%ae> %cn %P%n%B", commit), "Ada <ada@example.org> Ada "+c.Parent+"\n"+
		strings.TrimSpace(c.Message)+"\n\nSwitchyard-Task: T\nSwitchyard-Decision: sha256:1\nSwitchyard-Deferred: two lines<U+202E>\nSwitchyard-Deferred: b")
	read, err := r.ReadCommit(t.Context(), w.Branch)
	s.must(err)
	trailers := []gitrepo.Trailer{{"Switchyard-Task", "T"}, {gitrepo.DecisionTrailer, "sha256:1"}, {"Switchyard-Deferred", "two lines<U+202E>"}, {"Switchyard-Deferred", "b"}}
	s.equal(fmt.Sprintf("%+v", read), fmt.Sprintf("%+v", gitrepo.Commit{Hash: commit, Tree: c.Tree, Parents: []string{c.Parent}, Subject: "Subject", Trailers: trailers}))
	read, err = r.ReadCommit(t.Context(), "main")
	s.must(err)
	s.equal(fmt.Sprint(read.Subject, read.Trailers), "first[]")
	_, err = r.ReadCommit(t.Context(), "none")
	s.want(err, errs.RevisionUnknown)

	// The same decision is committed once, and changes since then stay.
	s.write(s.file(w, "a.txt"), "three\n")
	again, err := r.Commit(t.Context(), w, c)
	s.must(err)
	s.equal(again, commit)
	s.equal(s.git(w.Path, "status", "--porcelain"), "M a.txt")

	// A commit that somebody else made with the decision's trailer is refused.
	s.git(w.Path, "reset", "-q", "--soft", "HEAD~")
	s.git(w.Path, "commit", "-q", "-m", "x\n\nSwitchyard-Decision: sha256:1") // with the files of now
	s.must(os.Remove(s.file(w, "new.txt")))
	s.git(w.Path, "commit", "-q", "-a", "--amend", "--no-edit")
	_, err = r.Commit(t.Context(), w, c)
	s.want(err, errs.BranchMoved)
	s.git(w.Path, "reset", "-q", "--hard", commit)
	s.git(w.Path, "reset", "-q", "--soft", s.git(w.Path, "commit-tree", "-m", "unknown", "-p", c.Parent, c.Tree))
	s.git(w.Path, "commit", "-q", "--allow-empty", "-m", "x\n\nSwitchyard-Decision: sha256:1")
	_, err = r.Commit(t.Context(), w, c)
	s.want(err, errs.BranchMoved)
	s.git(w.Path, "reset", "-q", "--hard", commit)

	// Another one needs the right parent.
	c.Trailers[1].Value = "sha256:2"
	_, err = r.Commit(t.Context(), w, c)
	s.want(err, errs.BranchMoved)
	s.equal(s.git(s.dir, "rev-parse", w.Branch), commit)
	s.git(s.dir, "config", "--unset", "trailer.separators")
	s.equal(s.state(), before)
}

// Git reads the indexes of all worktrees when it collects objects, as any user of the repository.
func TestCommitKeepsTheIndexShared(t *testing.T) {
	s := newScene(t)
	s.git(s.dir, "config", "core.sharedRepository", "0666")
	r := s.open()
	w := s.add(r, "T")
	s.edit(r, w, "a.txt", "two\n")
	info, err := os.Stat(s.git(w.Path, "rev-parse", "--path-format=absolute", "--git-path", "index"))
	s.must(err)
	s.equal(info.Mode().String(), "-rw-rw-rw-")
}

// A killed git leaves its lock, which is removed where only a task's git takes it.
func TestLockOfKilledGit(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	s := newScene(t)
	r, head := s.open(), s.git(s.dir, "rev-parse", "HEAD")
	w := s.worktree("T")
	branch := filepath.Join(s.dir, ".git", "refs", "heads", w.Branch+".lock")
	s.write(branch, "")
	s.must(r.AddWorktree(t.Context(), w, head))
	s.wantWorktree(w, head)
	s.write(s.file(w, "a.txt"), "two\n")
	for _, name := range []string{"index.lock", "HEAD.lock"} {
		s.write(filepath.Join(s.dir, ".git", "worktrees", "T", name), "")
	}
	s.write(branch, "")
	s.wantWorktree(w, s.commit(r, w, "1"))

	// A lock of the user stays.
	s.git(s.dir, "branch", "trunk", head)
	trunk := filepath.Join(s.dir, ".git", "refs", "heads", "trunk.lock")
	s.write(trunk, "")
	s.want(r.Advance(t.Context(), "trunk", s.git(s.dir, "rev-parse", w.Branch), head), errs.GitLocked)
	_, err := os.Stat(trunk)
	s.must(err)

	// Nor is a file removed that is no lock, whatever a hook or a server says.
	ref := filepath.Join(s.dir, ".git", "refs", "heads", w.Branch)
	s.write(filepath.Join(s.dir, ".git", "hooks", "pre-push"), "#!/bin/sh\necho \"fatal: Unable to create '"+ref+"': File exists.\" >&2\nexit 1\n")
	s.must(os.Chmod(filepath.Join(s.dir, ".git", "hooks", "pre-push"), 0o755))
	remote := filepath.Join(s.base, "remote")
	s.git(s.base, "init", "-q", "--bare", remote)
	s.want(r.Push(t.Context(), remote, w.Branch, nil), errs.PushFailed)
	_, err = os.Stat(ref)
	s.must(err)
}

func TestCommitRefuses(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	s := newScene(t)
	r := s.open()
	w := s.add(r, "T")
	head := s.git(s.dir, "rev-parse", "HEAD")
	s.write(s.file(w, "a.txt"), "two\n")
	c := s.request(r, w, "1")
	refused := func(code errs.Code) {
		t.Helper()
		_, err := r.Commit(t.Context(), w, c)
		s.want(err, code)
		s.equal(s.git(s.dir, "rev-parse", "refs/heads/"+w.Branch), head)
	}
	config := filepath.Join(s.base, "home", ".gitconfig")
	s.must(os.Rename(config, config+".away"))
	refused(errs.AuthorUnknown)
	s.must(os.Rename(config+".away", config))

	s.git(s.dir, "config", "commit.gpgSign", "true")
	s.git(s.dir, "config", "gpg.program", "false")
	refused(errs.SigningFailed)
	s.git(s.dir, "config", "--remove-section", "commit")

	s.git(w.Path, "switch", "-q", "--detach")
	refused(errs.WorktreeSwitched)
	s.git(w.Path, "switch", "-q", w.Branch)

	c.Tree = strings.Repeat("1", 40)
	refused(errs.GitFailed)
	c.Tree = s.tree(r, w)

	// Git would take the branch's name for these.
	for _, ref := range []string{"refs/tags/" + w.Branch, "refs/" + w.Branch} {
		s.git(s.dir, "update-ref", ref, head)
		refused(errs.BranchMoved)
		s.git(s.dir, "update-ref", "-d", ref)
	}
	s.write(filepath.Join(s.dir, ".git", w.Branch), head+"\n")
	refused(errs.BranchMoved)
	s.must(os.Remove(filepath.Join(s.dir, ".git", w.Branch)))

	// Another git process holds the branch.
	release := s.hold(filepath.Join(s.dir, ".git", "refs", "heads", w.Branch+".lock"))
	refused(errs.GitLocked)
	release()

	// With a locked index the commit is there, and the next call completes it.
	release = s.hold(filepath.Join(s.dir, ".git", "worktrees", "T", "index.lock"))
	s.git(s.dir, "update-ref", "refs/remotes/"+w.Branch, head) // Git takes the branch.
	_, err := r.Commit(t.Context(), w, c)
	s.want(err, errs.GitLocked)
	s.git(s.dir, "update-ref", "-d", "refs/remotes/"+w.Branch)
	release()
	commit, err := r.Commit(t.Context(), w, c)
	s.must(err)
	s.wantWorktree(w, commit)
	s.equal(s.git(s.dir, "rev-list", "--count", "main.."+w.Branch), "1")

	s.git(w.Path, "switch", "-q", "--detach")
	s.git(s.dir, "branch", "-D", w.Branch)
	s.git(w.Path, "symbolic-ref", "HEAD", "refs/heads/"+w.Branch)
	_, err = r.Commit(t.Context(), w, c)
	s.want(err, errs.BranchMoved)
}

func TestSignedCommit(t *testing.T) {
	s := newScene(t)
	r := s.open()
	w := s.add(r, "T")
	signer := filepath.Join(s.base, "signer.sh")
	s.must(os.WriteFile(signer, []byte("#!/bin/sh\ncat >/dev/null\necho SIGNED BY ME\nprintf '\\n[GNUPG:] SIG_CREATED \\n' >&2\n"), 0o700))
	s.git(s.dir, "config", "commit.gpgSign", "true")
	s.git(s.dir, "config", "gpg.program", signer)
	commit := s.edit(r, w, "b.txt", "two\n")
	if text := s.git(s.dir, "cat-file", "commit", commit); !strings.Contains(text, "gpgsig SIGNED BY ME") {
		t.Errorf("it is not signed: %s", text)
	}
}

func TestCommitInterrupted(t *testing.T) {
	s := newScene(t)
	w := s.add(s.open(), "T")
	n := 0
	var c gitrepo.CommitRequest
	next := func() {
		n++
		s.write(s.file(w, "a.txt"), fmt.Sprintf("version %d\n", n))
		c = s.request(s.open(), w, fmt.Sprint(n))
	}
	next()
	s.interrupted(
		func(r *gitrepo.Repo) error { _, err := r.Commit(t.Context(), w, c); return err },
		func(when string) {
			s.wantWorktree(w, s.git(s.dir, "rev-parse", w.Branch))
			if got := s.git(s.dir, "rev-parse", w.Branch+"^"); got != c.Parent {
				t.Errorf("%s, there is not exactly one commit", when)
			}
		}, next)
}

func TestHooks(t *testing.T) {
	s := newScene(t)
	r := s.open()
	w := s.add(r, "T")
	s.write(s.file(w, "a.txt"), "two\n")
	s.write(s.file(w, "new.txt"), "new\n")
	tree := s.tree(r, w)
	run := func(message string) (string, error) { return r.RunHooks(t.Context(), w.Path, tree, message, nil) }
	if message, err := run("Subject"); err != nil || message != "Subject" {
		t.Errorf("without hooks it returns %q, %v", message, err)
	}
	hook := func(dir, name, script string) {
		t.Helper()
		s.must(os.MkdirAll(dir, 0o755))
		s.must(os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	}
	dir := filepath.Join(s.dir, ".git", "hooks")
	// The hook sees what is to be committed.
	hook(dir, "pre-commit", `test "$(git diff --cached --name-only | tr '\n' ' ')" = "a.txt new.txt " && git diff --quiet && test "$GIT_EDITOR" = :`)
	hook(dir, "prepare-commit-msg", `test "$2" = message && echo "Prepared: yes" >>"$1"`)
	hook(dir, "commit-msg", `echo "Change-Id: 1" >>"$1"`)
	s.write(filepath.Join(dir, "pre-push"), "not executable")
	hooks, err := r.Hooks(t.Context(), w.Path)
	s.must(err)
	s.equal(fmt.Sprint(hooks), "[pre-commit prepare-commit-msg commit-msg]")
	message, err := run("Subject\n\n")
	s.must(err)
	s.equal(message, "Subject\n\nPrepared: yes\nChange-Id: 1\n")

	for script, code := range map[string]errs.Code{
		"echo no; echo https://me:secret@example.org >&2; exit 3": errs.HookRefused,
		"echo x >>a.txt":            errs.HookChanged,
		"echo x >other.txt":         errs.HookChanged,
		"git rm -q --cached a.txt":  errs.HookChanged,
		"echo x >a.txt; git add -u": errs.HookChanged,
	} {
		hook(dir, "pre-commit", script)
		_, err := run("Subject")
		s.want(err, code)
		// Perhaps the hook did not do it, but somebody else while it ran.
		if text := fmt.Sprint(err); code == errs.HookChanged && !strings.HasSuffix(text, " changed while the repository's hooks ran: pre-commit, prepare-commit-msg, commit-msg") {
			t.Errorf("got %s", text)
		}
		if strings.Contains(fmt.Sprintf("%v %#v", err, err), "secret") {
			t.Errorf("a password is in %#v", err)
		}
		s.write(s.file(w, "a.txt"), "two\n")
		s.must(os.RemoveAll(s.file(w, "other.txt")))
	}
	hook(dir, "pre-commit", "")
	hook(dir, "commit-msg", `rm "$1"; mkdir "$1"`)
	_, err = run("Subject")
	s.want(err, errs.HookChanged)
	hook(dir, "commit-msg", `echo >"$1"`)
	_, err = run("Subject")
	s.want(err, errs.HookRefused)

	// What a hook changed before it was mended is not the fault of the mended one.
	s.write(s.file(w, "a.txt"), "formatted\n")
	_, err = run("Subject")
	s.want(err, errs.WorktreeDirty)
	s.write(s.file(w, "a.txt"), "two\n")

	// Other directories of hooks, also of the worktree.
	s.git(s.dir, "config", "core.hooksPath", ".hooks")
	if hooks, err := r.Hooks(t.Context(), w.Path); err != nil || len(hooks) > 0 {
		t.Errorf("there are hooks %q, %v", hooks, err)
	}
	hook(s.file(w, ".hooks"), "commit-msg", "exit 1")
	tree = s.tree(r, w)
	_, err = run("Subject")
	s.want(err, errs.HookRefused)
	s.equal(s.git(s.dir, "status", "--porcelain"), "")

	// A hook of the worktree runs only if it is a part of the commit.
	ran := filepath.Join(s.base, "ran")
	hook(s.file(w, ".hooks"), "commit-msg", "echo x >>'"+ran+"'")
	tree = s.tree(r, w)
	if _, err = run("Subject"); err != nil || !isFile(ran) {
		t.Error(err)
	}
	s.must(os.Remove(ran))
	s.write(s.file(w, ".gitignore"), "*.log\n.hooks.log/\n.hooks\n")
	s.must(os.Rename(s.file(w, ".hooks"), s.file(w, ".hooks.log")))
	s.must(os.Symlink(".hooks.log", s.file(w, ".hooks")))
	tree = s.tree(r, w)
	link := filepath.Join(s.base, "link")
	s.must(os.Symlink(s.file(w, ".hooks.log"), link))
	for _, path := range []string{".hooks", ".hooks.log", s.file(w, ".hooks"), link} {
		s.git(s.dir, "config", "core.hooksPath", path)
		_, err = run("Subject")
		s.want(err, errs.HookRefused)
	}
	s.must(os.Remove(s.file(w, ".hooks")))
	s.write(s.file(w, ".gitignore"), "*.log\n.hooks.log/\n")
	s.must(os.Mkdir(s.file(w, ".hooks"), 0o755))
	s.must(os.Symlink("../.hooks.log/commit-msg", s.file(w, ".hooks/commit-msg")))
	s.git(s.dir, "config", "core.hooksPath", ".hooks")
	tree = s.tree(r, w)
	_, err = run("Subject")
	s.want(err, errs.HookRefused)
	if isFile(ran) {
		t.Error("a hook ran that is not in the commit")
	}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
