//go:build unix

package linediff_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/linediff"
)

// A function that is long enough to be recognized where it moves to.
const function = "func total(prices []int) (sum int) {\n\tfor _, p := range prices {\n\t\tsum += p\n\t}\n\treturn sum\n}\n"

// files are a version of a project: texts by path.
type files map[string]string

// compare returns the changes between two versions as git compares them.
func compare(t testing.TB, before, after files) linediff.Changes {
	t.Helper()
	changes, err := linediff.Parse(patch(t, before, after))
	if err != nil {
		t.Fatal(err)
	}
	return changes
}

// patch returns git's patch between two versions.
func patch(t testing.TB, before, after files) []byte {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	git := func(args ...string) []byte {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return out
	}
	git("init", "-q", "--template=")
	var trees []string
	for _, version := range []files{before, after} {
		git("read-tree", "--empty")
		for name, text := range version {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			git("add", "--", name)
		}
		trees = append(trees, strings.TrimSpace(string(git("write-tree"))))
	}
	return git("-c", "core.quotePath=false", "diff-tree", "-r", "-p", "-U0", "--no-renames", "--src-prefix=a/", "--dst-prefix=b/", trees[0], trees[1])
}

func TestChanges(t *testing.T) {
	const numbers = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n"
	for _, c := range []struct {
		name          string
		before, after files
		want          string // the changed lines of each file
	}{
		{"nothing", files{"a": numbers}, files{"a": numbers}, "map[]"},
		{"an edited line", files{"a": numbers}, files{"a": strings.Replace(numbers, "three", "3", 1)}, "map[a:[{3 3}]]"},
		{"added lines", files{"a": numbers}, files{"a": strings.Replace(numbers, "four\n", "four\nx\ny\n", 1)}, "map[a:[{5 6}]]"},
		{"two places", files{"a": numbers}, files{"a": "0\n" + numbers + "9\n"}, "map[a:[{1 1} {10 10}]]"},
		{"after removed lines", files{"a": numbers}, files{"a": strings.Replace(numbers, "three\nfour\n", "", 1)}, "map[a:[{3 3}]]"},
		{"after the removed first line", files{"a": numbers}, files{"a": strings.TrimPrefix(numbers, "one\n")}, "map[a:[{1 1}]]"},
		{"after the removed last line, where no line is", files{"a": numbers}, files{"a": strings.TrimSuffix(numbers, "eight\n")}, "map[a:[{8 8}]]"},
		{"fewer lines", files{"a": numbers}, files{"a": strings.Replace(numbers, "two\nthree\n", "2 and 3\n", 1)}, "map[a:[{2 2}]]"},
		{"an added file", files{"a": numbers}, files{"a": numbers, "b": "x\ny\n"}, "map[b:[{1 2}]]"},
		{"an added file without lines", files{"a": numbers}, files{"a": numbers, "b": ""}, "map[]"},
		{"a removed file", files{"a": numbers, "b": "x\n"}, files{"a": numbers}, "map[]"},
		{"a binary file", files{"a": "x\x00"}, files{"a": "y\x00"}, "map[]"},
		{"no line end any more", files{"a": "one\ntwo\n"}, files{"a": "one\ntwo"}, "map[a:[{2 2}]]"},
		{"a line end from now on", files{"a": "one\ntwo"}, files{"a": "one\ntwo\nthree\n"}, "map[a:[{2 3}]]"},
		{"carriage returns", files{"a": "one\ntwo\n"}, files{"a": "one\r\ntwo\r\n"}, "map[a:[{1 2}]]"},
		{"lines that look like a patch", files{"a": "-- a/x\n"}, files{"a": "++ b/x\n@@ -1 +1 @@\n\\ No newline\n"}, "map[a:[{1 3}]]"},

		{"moved within a file", files{"a": function + numbers}, files{"a": numbers + function}, "map[]"},
		{"moved to another file", files{"a": numbers + function}, files{"a": numbers, "b": function}, "map[]"},
		{"moved and edited", files{"a": numbers + function}, files{"a": numbers, "b": strings.Replace(function, "sum += p", "sum -= p", 1)}, "map[a:[{9 9}] b:[{3 6}]]"},
		{"moved, and a line more", files{"a": numbers + function}, files{"a": numbers, "b": "package b\n\n" + function}, "map[b:[{1 2}]]"},
		{"moved with other line ends", files{"a": numbers + function}, files{"a": numbers, "b": strings.ReplaceAll(function, "\n", "\r\n")}, "map[]"},
		{"renamed", files{"a": numbers + function}, files{"b": numbers + function}, "map[]"},
		{"renamed and edited", files{"a": numbers + function + numbers}, files{"b": numbers + function + strings.Replace(numbers, "one", "1", 1)}, "map[b:[{15 15}]]"},
		{"too short for a move", files{"a": "}\n}\n" + numbers}, files{"a": numbers + "}\n}\n"}, "map[a:[{1 1} {9 10}]]"},
		{"copied", files{"a": function}, files{"a": function, "b": function}, "map[b:[{1 6}]]"},
		{"moved to two places", files{"a": numbers + function}, files{"a": numbers, "b": function, "c": function}, "map[c:[{1 6}]]"},
		{"moved, and the first lines were also in another place", files{"a": numbers + "case a:\n\tbreak\n", "b": "\tbreak\ncase bananas, cherries:\n"}, files{"a": numbers, "b": "", "c": "case a:\n\tbreak\ncase bananas, cherries:\n"}, "map[a:[{9 9}] c:[{1 1}]]"},
		{"replaced by moved lines", files{"a": "gone\n" + numbers, "b": function}, files{"a": function + numbers}, "map[a:[{7 7}]]"},

		{"paths", files{}, files{"a b": "x\n", `a "b"`: "x\n", `q"\`: "x\n", "l\nf\ttab": "x\n", "\xff\x01": "x\n", "ü": "x\n", "d/e": "x\n"},
			fmt.Sprint(linediff.Changes{"a b": {{1, 1}}, `a "b"`: {{1, 1}}, `q"\`: {{1, 1}}, "l\nf\ttab": {{1, 1}}, "\xff\x01": {{1, 1}}, "ü": {{1, 1}}, "d/e": {{1, 1}}})},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := fmt.Sprint(compare(t, c.before, c.after)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestHas(t *testing.T) {
	c := linediff.Changes{"a": {{2, 3}, {7, 7}}}
	var has []int
	for line := range 10 {
		if c.Has("a", line) {
			has = append(has, line)
		}
		if c.Has("b", line) || linediff.Changes(nil).Has("a", line) {
			t.Errorf("line %d of a file that was not compared was changed", line)
		}
	}
	if !slices.Equal(has, []int{2, 3, 7}) {
		t.Errorf("got lines %v", has)
	}
}

// TestRandomEdits checks what is true of all edits: a line that was nowhere before is
// changed; no file has changed lines that git does not show as added, or as after removed
// ones; and a block that moves as a whole is not changed.
func TestRandomEdits(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	word := func(n int) string { return fmt.Sprintf("line number %d of many", random.IntN(n)) }
	for round := range 10 {
		before, after, fresh := files{}, files{}, map[string][]int{}
		var moved []string
		for _, name := range []string{"a", "b", "c"} {
			var lines, edited []string
			for i := range random.IntN(40) {
				line := word(30)
				switch lines = append(lines, line); random.IntN(8) {
				case 0:
				case 1:
					edited = append(edited, fmt.Sprintf("a new line %d %s %d", round, name, i), line)
					fresh[name] = append(fresh[name], len(edited)-1)
				default:
					edited = append(edited, line)
				}
			}
			before[name] = strings.Join(append(lines, ""), "\n")
			after[name] = strings.Join(append(edited, ""), "\n")
		}
		for i := range 5 + random.IntN(10) {
			moved = append(moved, fmt.Sprintf("a moved line %d", i))
		}
		block := strings.Join(append(moved, ""), "\n")
		before["a"], after["d"] = block+before["a"], block
		changes := compare(t, before, after)
		for name, lines := range fresh {
			for _, line := range lines {
				if !changes.Has(name, line) {
					t.Fatalf("round %d: line %d of %s is new, and not changed: %v\n%s", round, line, name, changes[name], after[name])
				}
			}
		}
		if len(changes["d"]) > 0 {
			t.Fatalf("round %d: a moved block is changed: %v", round, changes["d"])
		}
		for name, ranges := range changes {
			for i, r := range ranges {
				if r.First < 1 || r.Last < r.First || i > 0 && r.First <= ranges[i-1].Last || r.Last > strings.Count(after[name], "\n")+1 {
					t.Fatalf("round %d: the ranges of %s are %v", round, name, ranges)
				}
			}
		}
	}
}

func TestBrokenPatches(t *testing.T) {
	for _, text := range []string{
		"@@ nonsense", "@@ -1 +x @@\n", "@@ -1 @@\n", "+++ b/a\n@@ -1 +1 @@\n-x\n", "+++ b/a\n@@ -1 +1 @@\n-x\n-y\n+z\n", "+++ b/a\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n",
		"+++ a\n", "+++ \"b/a\n", "+++ \"b/\\9\"\n", "+++ \"b/\\1", "+++ \"b/\\777\"\n", "@@ -1,4294967296 +1 @@\n",
	} {
		if changes, err := linediff.Parse([]byte(text)); err == nil {
			t.Errorf("%q: got %v", text, changes)
		}
	}
}

// TestManyHunks checks that the time does not grow with the square of the lines: all of
// them could have been moved to the place of any other.
func TestManyHunks(t *testing.T) {
	var patch strings.Builder
	patch.WriteString("+++ b/a\n")
	const hunks = 100_000
	for i := range hunks {
		fmt.Fprintf(&patch, "@@ -%d +%d @@\n-%s\n+%s\n", 2*i+1, 2*i+1, []string{"", "}", "return nil, err"}[i%3], []string{"}", "return nil, err", ""}[i%3])
	}
	fmt.Fprintf(&patch, "--- a/b\n+++ b/b\n@@ -1,%d +1,%d @@\n%s%s", hunks, hunks, strings.Repeat("-\n", hunks), strings.Repeat("+\n", hunks))
	changes, err := linediff.Parse([]byte(patch.String()))
	if err != nil || len(changes["a"]) != hunks || !changes.Has("a", 2*hunks-1) || changes.Has("a", 2*hunks) || len(changes["b"]) != 1 {
		t.Errorf("got %d ranges, %v", len(changes["a"]), err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1 @@ func x\n-a\n-b\n+c\n\\ No newline at end of file\n"))
	f.Add([]byte("+++ \"b/\\303\\274\\n\"\n@@ -0,0 +1,2 @@\n+a\n+\n"))
	f.Add([]byte("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-this line is long enough to be moved\n--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+this line is long enough to be moved\n"))
	f.Fuzz(func(t *testing.T, patch []byte) {
		changes, err := linediff.Parse(patch)
		if err != nil {
			return
		}
		lines := 0
		for file, ranges := range changes {
			for _, r := range ranges {
				lines += r.Last - r.First + 1
				if file == "" || r.First > r.Last {
					t.Fatalf("got %v", changes)
				}
			}
		}
		if all := strings.Count(string(patch), "\n") + 1; lines > all {
			t.Fatalf("%d of %d lines are changed", lines, all)
		}
	})
}

// BenchmarkChanges parses a change of 5,000 lines, of which a third was moved, and looks up
// 500 findings.
func BenchmarkChanges(b *testing.B) {
	before, after := files{}, files{}
	for i := range 50 {
		var old, edited strings.Builder
		for line := range 100 {
			fmt.Fprintf(&old, "\told statement %d of file %d\n", line, i)
			fmt.Fprintf(&edited, "\tnew statement %d of file %d\n", line, i)
		}
		name := fmt.Sprintf("dir/file%d.go", i)
		before[name], after[name] = old.String(), edited.String()
		if i%3 == 0 {
			before[name], after["moved/"+name] = function+old.String(), old.String()
		}
	}
	text := patch(b, before, after)
	for b.Loop() {
		changes, err := linediff.Parse(text)
		if err != nil {
			b.Fatal(err)
		}
		induced := 0
		for i := range 500 {
			if changes.Has(fmt.Sprintf("dir/file%d.go", i%50), i/5+1) {
				induced++
			}
		}
		if induced != 500 {
			b.Fatalf("%d findings are in changed lines", induced)
		}
	}
}
