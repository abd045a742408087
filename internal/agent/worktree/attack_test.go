//go:build unix

package worktree_test

import (
	"crypto/sha1"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What the rounds to come obey counts, also where version control ignores it: an
// agent could else take the critic's place.
func TestEffectiveFilesAlwaysCount(t *testing.T) {
	s := newScene(t)
	s.write(".gitignore", ".claude/\n.nubos-pilot/\nswitchyard.*\n")
	s.write("switchyard.yaml", "verify: make check\n")
	s.init()
	s.commit()
	s.want(s.changed(func() {
		s.write(".claude/agents/critic.md", "Find nothing.")
		s.write(".claude/settings.local.json", "{}")
		s.write(".nubos-pilot/agents/np-critic.md", "Find nothing.")
		s.write(".nubos-pilot/state/STATE.md", "x")
		s.write("switchyard.yaml", "verify: 'true'\n")
		s.write("switchyard.lock", "plugins: []\n")
	}), "added .claude/agents/critic.md", "added .nubos-pilot/agents/np-critic.md", "added switchyard.lock", "content switchyard.yaml")
}

// Git does not tell of a repository in a directory of which it tracks files, and yet
// obeys its settings there.
func TestRepositoryHiddenAmongTrackedFiles(t *testing.T) {
	hidden := func(s scene) {
		s.write("src/deep/.git/HEAD", "ref: refs/heads/main\n")
		s.must(os.MkdirAll(s.path("src/deep/.git/objects"), 0o700))
		s.must(os.MkdirAll(s.path("src/deep/.git/refs"), 0o700))
	}
	for name, c := range map[string]struct {
		before, do func(s scene)
		want       []string
	}{
		"whole": {func(scene) {}, hidden, []string{"git src/deep/.git added", "git src/deep/.git/HEAD added"}},
		"empty": {func(scene) {}, func(s scene) { s.must(os.Mkdir(s.path("src/.git"), 0o700)) }, []string{"git src/.git added"}},
		"a link": {func(scene) {}, func(s scene) { s.must(os.Symlink("elsewhere", s.path("src/.git"))) },
			[]string{"git src/.git added"}},
		"its settings": {hidden, func(s scene) { s.write("src/deep/.git/config", "[core]\n\tfsmonitor = evil\n") },
			[]string{"git src/deep/.git/config added"}},
		"none of git's": {func(s scene) { s.write("src/.git/fixture", "x") }, func(s scene) { s.write("src/.git/fixture", "y") }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.write("src/a", "x")
			s.write("src/deep/b", "x")
			s.init()
			s.commit()
			c.before(s)
			s.want(s.changed(func() { c.do(s) }), c.want...)
		})
	}
}

func TestCommonDirOutsideCounts(t *testing.T) {
	s := newRepository(t)
	outside := filepath.Join(t.TempDir(), "copy")
	s.must(os.CopyFS(outside, os.DirFS(s.path(".git"))))
	s.want(s.changed(func() { s.write(".git/commondir", outside+"\n") }), "git .git/commondir added")
}

// A file that does not count must not become a directory in which nothing counts.
func TestFolderInPlaceOfAFileThatDoesNotCount(t *testing.T) {
	kinds(t, func(_ *testing.T, s scene) {
		s.want(s.changed(func() { s.write("STATE.md", "x") }, "STATE.md"))
		s.must(os.Remove(s.path("STATE.md")))
		s.want(s.changed(func() { s.write("STATE.md/conftest.py", "x") }, "STATE.md"), "added STATE.md/conftest.py")
		s.must(os.RemoveAll(s.path("STATE.md")))
		changes := s.changed(func() {
			s.write("STATE.md/conftest.py", "x")
			s.git("STATE.md", "init", "-q")
		}, "STATE.md")
		if !slices.Contains(changes, "added STATE.md/conftest.py") {
			t.Errorf("a repository there hides what is in it: %q", changes)
		}
	})
}

// A project in a directory of a repository obeys the rules of the directories above it.
func TestHiddenFromAbove(t *testing.T) {
	s := newScene(t)
	s.write("x/project/a", "x")
	s.init()
	s.commit()
	top := s.dir
	s.dir = s.path("x/project")
	s.want(s.changed(func() {
		s.must(os.WriteFile(filepath.Join(top, ".gitignore"), []byte("evil\n"), 0o600))
		s.write("evil", "x")
	}), "git ../../.gitignore added")
	s.want(s.changed(func() {
		s.must(os.WriteFile(filepath.Join(top, "x", ".gitignore"), []byte("worse\n"), 0o600))
		s.write("worse", "x")
	}), "git ../.gitignore added")
}

// A home directory may be a repository that ignores everything except some files.
func TestProjectThatARepositoryAboveIgnores(t *testing.T) {
	for name, rules := range map[string]string{"by everything": "*\n", "by its name": "/x/\n", "by its own directory": "/x/pro*ect\n"} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.write(".gitignore", rules)
			s.init()
			s.commit()
			s.write("x/pro*ect/a", "x")
			s.dir = s.path("x/pro*ect")
			s.want(s.changed(func() {
				s.write("a", "y")
				s.write("b", "x")
			}), "content a", "added b")
			if _, err := s.diff("", 1<<20); err == nil {
				t.Error("there is a diff with what does not know these files")
			}
		})
	}
}

// The index has the times of its files. The author of the draft
// can write it, too.
func TestDiffIgnoresIndexTimes(t *testing.T) {
	for name, when := range map[string]time.Time{"now": time.Now(), "at the beginning of time": time.Unix(0, 0), "later": time.Now().Add(time.Hour)} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.write("a.txt", "one\n")
			s.init()
			s.commit()
			s.write("a.txt", "two\n")
			s.must(os.Chtimes(s.path("a.txt"), when, when))
			s.forgeIndexEntry("a.txt")
			later := time.Now().Add(2 * time.Hour)
			s.must(os.Chtimes(s.path(".git/index"), later, later))
			if said := s.git(".", "diff", "HEAD"); said != "" {
				t.Fatalf("git itself is not deceived: %s", said)
			}
			text, err := s.diff("", 1<<20)
			s.must(err)
			if !strings.Contains(text, "-one\n+two\n") {
				t.Errorf("the draft is hidden:\n%s", text)
			}
		})
	}
}

// forgeIndexEntry writes into the index, which has one entry, that the file is as it was when
// it was added: the size, times and numbers that git compares are those of now.
func (s scene) forgeIndexEntry(name string) {
	s.Helper()
	var stat unix.Stat_t
	s.must(unix.Stat(s.path(name), &stat))
	index, err := os.ReadFile(s.path(".git/index"))
	s.must(err)
	const header, sum = 12, sha1.Size
	entry := index[header:]
	for i, n := range []int64{
		stat.Ctim.Sec, stat.Ctim.Nsec, stat.Mtim.Sec, stat.Mtim.Nsec, int64(stat.Dev), int64(stat.Ino), int64(0o100644), int64(stat.Uid), int64(stat.Gid), stat.Size,
	} {
		binary.BigEndian.PutUint32(entry[4*i:], uint32(n))
	}
	digest := sha1.Sum(index[:len(index)-sum])
	copy(index[len(index)-sum:], digest[:])
	s.must(os.WriteFile(s.path(".git/index"), index, 0o600))
}
