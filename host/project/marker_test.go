package project_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/host/fault"
	"github.com/switchyard-dev/switchyard/host/project"
)

func begin(task string) string { return "<!-- switchyard:stuck " + task + " -->" }
func end(task string) string   { return "<!-- /switchyard:stuck " + task + " -->" }

// state is a STATE.md: its text, and whether there is one.
type state struct {
	text   string
	exists bool
}

func (s state) String() string { return fmt.Sprintf("%q (%t)", s.text, s.exists) }

func read(t interface{ Fatal(...any) }, root string) state {
	data, err := os.ReadFile(filepath.Join(root, project.MarkerFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return state{string(data), err == nil}
}

func write(t interface{ Fatal(...any) }, root string, s state) {
	path := filepath.Join(root, project.MarkerFile)
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if s.exists {
		err = errors.Join(err, os.WriteFile(path, []byte(s.text), 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func mark(t interface{ Fatal(...any) }, root, task, text string) {
	if err := (project.Project{Root: root}).Mark(task, text); err != nil {
		t.Fatal(err)
	}
}

func TestMarkPutsABlockAndTakesItAway(t *testing.T) {
	for name, c := range map[string]struct {
		before state
		marked string
	}{
		"no file":               {state{}, begin("T") + "\nwhy\n" + end("T")},
		"empty file":            {state{"", true}, begin("T") + "\nwhy\n" + end("T") + "\n"},
		"text":                  {state{"# State\n", true}, "# State\n" + begin("T") + "\nwhy\n" + end("T") + "\n"},
		"no final line end":     {state{"# State", true}, "# State\n" + begin("T") + "\nwhy\n" + end("T")},
		"CRLF":                  {state{"a\r\nb\r\n", true}, "a\r\nb\r\n" + begin("T") + "\r\nwhy\r\n" + end("T") + "\r\n"},
		"CRLF, no final end":    {state{"a\r\nb", true}, "a\r\nb\r\n" + begin("T") + "\r\nwhy\r\n" + end("T")},
		"a line end alone":      {state{"\n", true}, "\n" + begin("T") + "\nwhy\n" + end("T") + "\n"},
		"a carriage return":     {state{"a\r", true}, "a\r\r\n" + begin("T") + "\r\nwhy\r\n" + end("T")},
		"another task's":        {state{begin("U") + "\nx\n" + end("U"), true}, begin("U") + "\nx\n" + end("U") + "\n" + begin("T") + "\nwhy\n" + end("T")},
		"a beginning alone":     {state{begin("T") + "\nmine\n", true}, begin("T") + "\nmine\n" + begin("T") + "\nwhy\n" + end("T") + "\n"},
		"an ending alone":       {state{"mine\n" + end("T") + "\n", true}, "mine\n" + end("T") + "\n" + begin("T") + "\nwhy\n" + end("T") + "\n"},
		"delimiters in a line":  {state{"`" + begin("T") + "`\n`" + end("T") + "`\n", true}, "`" + begin("T") + "`\n`" + end("T") + "`\n" + begin("T") + "\nwhy\n" + end("T") + "\n"},
		"another task's inside": {state{begin("T") + "\n" + begin("U") + "\n" + end("T") + "\n", true}, begin("T") + "\n" + begin("U") + "\n" + end("T") + "\n" + begin("T") + "\nwhy\n" + end("T") + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			write(t, root, c.before)
			mark(t, root, "T", "why")
			if got := read(t, root); got != (state{c.marked, true}) {
				t.Errorf("marked: %s", got)
			}
			mark(t, root, "T", "")
			if got := read(t, root); got != c.before {
				t.Errorf("unmarked: %s, want %s", got, c.before)
			}
		})
	}
}

func TestMarkReplacesInItsPlace(t *testing.T) {
	root := t.TempDir()
	write(t, root, state{"a\n" + begin("T") + "\nold\n\nmore\n" + end("T") + "\nb\n", true})
	mark(t, root, "T", "new\n\n")
	if got := read(t, root).text; got != "a\n"+begin("T")+"\nnew\n"+end("T")+"\nb\n" {
		t.Errorf("got %q", got)
	}
	// Of a block that somebody copied, one is left.
	write(t, root, state{begin("T") + "\n1\n" + end("T") + "\nb\n" + begin("T") + "\n2\n" + end("T") + "\n", true})
	mark(t, root, "T", "3")
	if got := read(t, root).text; got != begin("T")+"\n3\n"+end("T")+"\nb\n" {
		t.Errorf("got %q", got)
	}
	mark(t, root, "T", "")
	if got := read(t, root).text; got != "b\n" {
		t.Errorf("got %q", got)
	}
}

func TestMarkOfTheSameTextWritesNothing(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, project.MarkerFile)
	mark(t, root, "T", "")
	if read(t, root).exists {
		t.Error("a file without a block was made")
	}
	write(t, root, state{"a\r\nb", true})
	mark(t, root, "T", "one\ntwo")
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	mark(t, root, "T", "one\r\ntwo\n")
	mark(t, root, "U", "")
	after, err := os.Stat(path)
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("the file was replaced (%v)", err)
	}
	if files, err := os.ReadDir(root); err != nil || len(files) != 1 {
		t.Errorf("left are %v, %v", files, err)
	}
}

func TestMarkKeepsTheMode(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, project.MarkerFile)
	write(t, root, state{"a\n", true})
	for _, mode := range []fs.FileMode{0o666, 0o600, 0o640} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		mark(t, root, "T", mode.String())
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("got %v, %v, want %v", info.Mode(), err, mode)
		}
	}
}

func TestMarkedTextIsHarmless(t *testing.T) {
	for _, text := range []string{
		"a\n" + end("T") + "\n" + begin("U"), "<!-->", "<!--->", "---->", "<<!----!>", "\x1b[31mred", "\x9b1m", "\u202eback", "a\xffb", "\x00",
		"a\r" + end("T"), "a\v" + end("T"), "\n\n",
	} {
		root := t.TempDir()
		mark(t, root, "T", text)
		got := read(t, root).text
		inner := strings.TrimSuffix(strings.TrimPrefix(got, begin("T")+"\n"), "\n"+end("T"))
		if len(inner) != len(got)-len(begin("T"))-len(end("T"))-2 || strings.Contains(inner, "<!--") || strings.Contains(inner, "-->") ||
			strings.ContainsAny(inner, "\x00\x1b\r\u009b\u202e") || strings.ToValidUTF8(got, "") != got {
			t.Errorf("%q became %q", text, got)
		}
		mark(t, root, "T", "")
		if got := read(t, root); got.exists {
			t.Errorf("%q left %q", text, got.text)
		}
	}
}

func TestMarkRefusesWhatIsNoFile(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "target")
	if err := os.WriteFile(elsewhere, []byte("kept"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, put := range map[string]func(path string) error{
		"link":          func(path string) error { return os.Symlink(elsewhere, path) },
		"link inside":   func(path string) error { return os.Symlink("other.md", path) },
		"dangling link": func(path string) error { return os.Symlink("none", path) },
		"folder":        func(path string) error { return os.Mkdir(path, 0o755) },
	} {
		root := tree(t, "other.md")
		if err := put(filepath.Join(root, project.MarkerFile)); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"x", ""} {
			if err := (project.Project{Root: root}).Mark("T", text); fault.CodeOf(err) != project.CodeMarkerUnsafe {
				t.Errorf("%s: got %v", name, err)
			}
		}
		if text, err := os.ReadFile(filepath.Join(root, "other.md")); err != nil || string(text) != "other.md" {
			t.Errorf("%s: the target holds %q, %v", name, text, err)
		}
		if _, err := os.Lstat(filepath.Join(root, "none")); err == nil {
			t.Errorf("%s: the target was made", name)
		}
	}
	if text, err := os.ReadFile(elsewhere); err != nil || string(text) != "kept" {
		t.Errorf("the target holds %q, %v", text, err)
	}
	for _, task := range []string{"", "a b", "a -->", "-", "a\n", strings.Repeat("a", 129)} {
		root := t.TempDir()
		if err := (project.Project{Root: root}).Mark(task, "x"); fault.CodeOf(err) != project.CodeMarkerUnsafe || read(t, root).exists {
			t.Errorf("%q: got %v", task, err)
		}
	}
}

func TestMarkThatCannotBeWritten(t *testing.T) {
	for name, text := range map[string]string{"large": strings.Repeat("a", 4<<20+1), "full": strings.Repeat("a", 4<<20)} {
		root := t.TempDir()
		write(t, root, state{text, true})
		if err := (project.Project{Root: root}).Mark("T", "x"); fault.CodeOf(err) != project.CodeMarkerUnwritable {
			t.Errorf("%s: got %v", name, err)
		}
		if read(t, root).text != text {
			t.Errorf("%s: changed", name)
		}
	}
	if err := (project.Project{Root: filepath.Join(t.TempDir(), "none")}).Mark("T", "x"); fault.CodeOf(err) != project.CodeMarkerUnwritable {
		t.Errorf("no folder: %v", err)
	}
	if os.Geteuid() == 0 {
		t.Skip("a read-only file does not stop root")
	}
	root := t.TempDir()
	write(t, root, state{"a\n", true})
	if err := os.Chmod(filepath.Join(root, project.MarkerFile), 0o444); err != nil {
		t.Fatal(err)
	}
	if err := (project.Project{Root: root}).Mark("T", "x"); fault.CodeOf(err) != project.CodeMarkerUnwritable {
		t.Errorf("read-only: %v", err)
	}
	if err := (project.Project{Root: root}).Mark("T", ""); err != nil {
		t.Errorf("read-only, and nothing to write: %v", err)
	}
}

// TestMarksComeAndGoWithoutATrace draws files, whole and damaged blocks in them
// included, and a history of marks: each step shows what was last said of each
// task, and in the end the file is what it was.
func TestMarksComeAndGoWithoutATrace(t *testing.T) {
	root := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		// A task of the history has one kind of delimiter at most in the file: with
		// both the file might hold a block of it from the beginning.
		pieces := []string{"", "a", "-", "\n", "\n", "\r\n", "\r\n", "\r", "<!--", " ", begin("other"), end("other"),
			begin("T") + "\n", begin("T") + "\r\n", begin("T"), end("T.1"), "\n" + end("T.1") + "\n", end("T.1") + "\r", begin("U-"), begin("U-") + "\r"}
		before := state{exists: rapid.Bool().Draw(t, "exists")}
		if before.exists {
			before.text = strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "file"), "")
		}
		write(t, root, before)
		tasks := []string{"T", "T.1", "U-"}
		said := map[string]string{}
		for range rapid.IntRange(1, 8).Draw(t, "steps") {
			task := rapid.SampledFrom(tasks).Draw(t, "task")
			text := rapid.SampledFrom([]string{"", "", "one", "two\nlines", end("T"), begin("T.1") + "\n", "-->"}).Draw(t, "text")
			mark(t, root, task, text)
			said[task] = text
			got := strings.ReplaceAll(read(t, root).text, "\r\n", "\n")
			for _, task := range tasks {
				text := strings.TrimSuffix(strings.NewReplacer("-->", "--&gt;", "<!--", "&lt;!--").Replace(said[task]), "\n")
				if block := begin(task) + "\n" + text + "\n" + end(task); said[task] != "" && strings.Count(got, block) != 1 {
					t.Fatalf("the block of %s is not in %q", task, got)
				}
			}
		}
		for _, task := range rapid.Permutation(tasks).Draw(t, "order") {
			mark(t, root, task, "")
		}
		if after := read(t, root); after != before {
			t.Fatalf("%s became %s", before, after)
		}
	})
	if files, err := os.ReadDir(root); err != nil || len(files) > 1 {
		t.Errorf("left are %v, %v", files, err)
	}
}

// FuzzMark holds that marking and unmarking gives back any file without a block.
func FuzzMark(f *testing.F) {
	f.Add("", "x")
	f.Add("a\r\n"+begin("T")+"\r", end("T"))
	f.Add(begin("T")+"\n"+begin("U")+"\n"+end("T")+"\n", "\n")
	f.Add(end("T")+"\r\n"+begin("T"), "-->\r")
	root := f.TempDir()
	f.Fuzz(func(t *testing.T, text, said string) {
		if len(text)+len(said) > 1<<16 {
			t.Skip("too long to be worth it")
		}
		write(t, root, state{text, true})
		mark(t, root, "T", "") // Whatever whole blocks it has.
		before := read(t, root)
		mark(t, root, "T", said)
		if got := read(t, root); said != "" && strings.Count(got.text, begin("T")) != 1+strings.Count(before.text, begin("T")) {
			t.Errorf("%q became %q", before.text, got.text)
		}
		mark(t, root, "T", "")
		if after := read(t, root); after != before {
			t.Errorf("%s became %s", before, after)
		}
	})
}

// TestMarkIsQuickOnALargeFile: what looks like blocks must not cost more than its
// length.
func TestMarkIsQuickOnALargeFile(t *testing.T) {
	root := t.TempDir()
	write(t, root, state{strings.Repeat(begin("T")+"\n", 80_000), true})
	start := time.Now()
	mark(t, root, "T", "x")
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %s", took)
	}
}
