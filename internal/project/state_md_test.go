package project_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
)

func begin(task string) string { return "<!-- switchyard:stuck " + task + " -->" }
func end(task string) string   { return "<!-- /switchyard:stuck " + task + " -->" }

// marks returns a text with a block for each pair of task and text.
func marks(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		b.WriteString(begin(pairs[i]) + "\n" + pairs[i+1] + "\n" + end(pairs[i]) + "\n")
	}
	return b.String()
}

// state is the text of STATE.md, and whether it exists.
type state struct {
	text   string
	exists bool
}

func (s state) String() string { return fmt.Sprintf("%q (%t)", s.text, s.exists) }

func read(t interface{ Fatal(...any) }, root string) state {
	data, err := os.ReadFile(filepath.Join(root, project.StateMDFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return state{string(data), err == nil}
}

// write writes the text to a project's STATE.md.
func write(t interface{ Fatal(...any) }, root, text string) {
	path := filepath.Join(root, project.StateMDFile)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err = errors.Join(err, os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func mark(t interface{ Fatal(...any) }, root, task, text string) {
	if err := (project.Project{Root: root}).UpdateStateMD(task, text); err != nil {
		t.Fatal(err)
	}
}

func TestStateMDTakesAndDropsABlock(t *testing.T) {
	root := t.TempDir()
	for _, c := range []struct{ task, text, want string }{
		{"T", "", ""},
		{"T", "why", marks("T", "why")},
		{"U", "two\n\nlines\n\n", marks("T", "why", "U", "two\n\nlines")},
		{"A", "first", marks("A", "first", "T", "why", "U", "two\n\nlines")},
		{"T", "another", marks("A", "first", "T", "another", "U", "two\n\nlines")},
		{"U", "", marks("A", "first", "T", "another")},
		{"A", "", marks("T", "another")},
		{"T", "", ""},
	} {
		mark(t, root, c.task, c.text)
		if got := read(t, root); got != (state{c.want, c.want != ""}) {
			t.Errorf("%s is marked %q: %s", c.task, c.text, got)
		}
	}
	path := filepath.Join(root, project.StateMDFile)
	mark(t, root, "T", "x")
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestStateMDKeepsBlocksAlone checks that an update drops everything but complete blocks.
func TestStateMDKeepsBlocksAlone(t *testing.T) {
	for text, want := range map[string]string{
		"# State\n" + marks("U", "x") + "mine":                            marks("T", "why", "U", "x"),
		marks("T", "1") + "b\n" + marks("T", "2"):                         marks("T", "why"),
		begin("U") + "\nx\n" + begin("V") + "\n" + end("U") + "\n":        marks("T", "why"),
		"`" + begin("U") + "`\nx\n`" + end("U") + "`\n" + end("V") + "\n": marks("T", "why"),
		begin("U") + "\n" + end("U"):                                      marks("T", "why", "U", ""),
		strings.Repeat(begin("T")+"\n", 80_000):                           marks("T", "why"),
	} {
		root := t.TempDir()
		write(t, root, text)
		mark(t, root, "T", "why")
		if got := read(t, root); got != (state{want, true}) {
			t.Errorf("%.100q became %s", text, got)
		}
	}
}

func TestStateMDIsNotRewrittenWithTheSameText(t *testing.T) {
	root := t.TempDir()
	mark(t, root, "T", "one\ntwo")
	before, err := os.Stat(filepath.Join(root, project.StateMDFile))
	if err != nil {
		t.Fatal(err)
	}
	mark(t, root, "T", "one\r\ntwo\n")
	mark(t, root, "U", "")
	after, err := os.Stat(filepath.Join(root, project.StateMDFile))
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("the file was replaced (%v)", err)
	}
	if files, err := os.ReadDir(filepath.Join(root, project.StateDir)); err != nil || len(files) != 2 {
		t.Errorf("left are %v, %v", files, err)
	}
}

func TestStateMDTextIsHarmless(t *testing.T) {
	for _, text := range []string{
		"a\n" + end("T") + "\n" + begin("U"), "<!-->", "<!--->", "---->", "<<!----!>", "\x1b[31mred", "\x9b1m", "\u202eback", "a\xffb", "\x00",
		"a\r" + end("T"), "a\v" + end("T"), "\n\n",
	} {
		root := t.TempDir()
		mark(t, root, "T", text)
		got := read(t, root).text
		inner := strings.TrimSuffix(strings.TrimPrefix(got, begin("T")+"\n"), "\n"+end("T")+"\n")
		if len(inner) != len(got)-len(begin("T"))-len(end("T"))-3 || strings.Contains(inner, "<!--") || strings.Contains(inner, "-->") ||
			strings.ContainsAny(inner, "\x00\x1b\r\u009b\u202e") || strings.ToValidUTF8(got, "") != got {
			t.Errorf("%q became %q", text, got)
		}
		mark(t, root, "T", "")
		if got := read(t, root); got.exists {
			t.Errorf("%q left %q", text, got.text)
		}
	}
}

func TestStateMDThatIsNoFileIsRefused(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "target")
	if err := os.WriteFile(outside, []byte("kept"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, put := range map[string]func(path string) error{
		"link":          func(path string) error { return os.Symlink(outside, path) },
		"link inside":   func(path string) error { return os.Symlink("other.md", path) },
		"dangling link": func(path string) error { return os.Symlink("none", path) },
		"folder":        func(path string) error { return os.Mkdir(path, 0o755) },
	} {
		root := tree(t, project.StateDir+"/other.md")
		if err := put(filepath.Join(root, project.StateMDFile)); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"x", ""} {
			if err := (project.Project{Root: root}).UpdateStateMD("T", text); errs.CodeOf(err) != errs.MarkerUnsafe {
				t.Errorf("%s: got %v", name, err)
			}
		}
		if text, err := os.ReadFile(filepath.Join(root, project.StateDir, "other.md")); err != nil || string(text) != project.StateDir+"/other.md" {
			t.Errorf("%s: the target holds %q, %v", name, text, err)
		}
		if _, err := os.Lstat(filepath.Join(root, project.StateDir, "none")); err == nil {
			t.Errorf("%s: the target was made", name)
		}
	}
	if text, err := os.ReadFile(outside); err != nil || string(text) != "kept" {
		t.Errorf("the target holds %q, %v", text, err)
	}
	for _, task := range []string{"", "a b", "a -->", "-", "a\n", strings.Repeat("a", 129)} {
		root := t.TempDir()
		if err := (project.Project{Root: root}).UpdateStateMD(task, "x"); errs.CodeOf(err) != errs.MarkerUnsafe || read(t, root).exists {
			t.Errorf("%q: got %v", task, err)
		}
	}
}

func TestStateMDThatCannotBeWritten(t *testing.T) {
	for name, text := range map[string]string{"large": strings.Repeat("a", 4<<20+1), "full": marks("U", strings.Repeat("a", 4<<20-100))} {
		root := t.TempDir()
		write(t, root, text)
		if err := (project.Project{Root: root}).UpdateStateMD("T", "x"); errs.CodeOf(err) != errs.MarkerUnwritable {
			t.Errorf("%s: got %v", name, err)
		}
		if read(t, root).text != text {
			t.Errorf("%s: changed", name)
		}
	}
	if err := (project.Project{Root: filepath.Join(t.TempDir(), "none")}).UpdateStateMD("T", "x"); errs.CodeOf(err) != errs.MarkerUnwritable {
		t.Errorf("no directory: %v", err)
	}
}

// TestStateMDBlocksComeAndGo generates a history of updates: each step shows the latest text of
// each task, and in the end the file is gone.
func TestStateMDBlocksComeAndGo(t *testing.T) {
	root := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		tasks := []string{"T", "T.1", "U-"}
		said := map[string]string{}
		for range rapid.IntRange(1, 8).Draw(t, "steps") {
			task := rapid.SampledFrom(tasks).Draw(t, "task")
			text := rapid.SampledFrom([]string{"", "", "one", "two\nlines", end("T"), begin("T.1") + "\n", "-->"}).Draw(t, "text")
			mark(t, root, task, text)
			said[task] = text
			got := read(t, root).text
			for _, task := range tasks {
				text := strings.TrimSuffix(strings.NewReplacer("-->", "--&gt;", "<!--", "&lt;!--").Replace(said[task]), "\n")
				if block := marks(task, text); said[task] != "" && strings.Count(got, block) != 1 {
					t.Fatalf("the block of %s is not in %q", task, got)
				}
			}
		}
		for _, task := range rapid.Permutation(tasks).Draw(t, "order") {
			mark(t, root, task, "")
		}
		if after := read(t, root); after.exists {
			t.Fatalf("left is %s", after)
		}
	})
}

// FuzzMark checks that a block with any text can be removed again, whatever the file
// contains.
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
		write(t, root, text)
		mark(t, root, "T", "") // The file may contain complete blocks.
		before := read(t, root).text
		mark(t, root, "T", said)
		if got := read(t, root); said != "" && strings.Count(got.text, begin("T")) != 1 {
			t.Errorf("%q became %q", before, got.text)
		}
		mark(t, root, "T", "")
		if after := read(t, root).text; after != before {
			t.Errorf("%q became %q", before, after)
		}
	})
}
