package pluginset

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// makeTree creates directories and files in a new directory and returns its real path. A name
// that ends in a slash is a directory, and "a -> b" a link.
func makeTree(t *testing.T, names ...string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		link, target, isLink := strings.Cut(name, " -> ")
		path := filepath.Join(root, link)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		switch {
		case isLink:
			err = os.Symlink(target, path)
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o700)
		default:
			err = os.WriteFile(path, nil, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestPathsOfTheProjectBecomeRelative(t *testing.T) {
	top := makeTree(t, "project/src/a b.go", "project/src/a.go", `project/src/odd\name.go`, "project/link -> ../elsewhere", "elsewhere/deep/", "other -> project")
	root := filepath.Join(top, "project")
	m := newPathMapper(root)
	defer m.close()
	for file, want := range map[string]string{
		"src/a.go":                         "src/a.go",
		"./src//a.go":                      "src/a.go",
		"src/./a.go":                       "src/a.go",
		"src/../src/a.go":                  "src/a.go",
		"src/gone.go":                      "src/gone.go",
		root + "/src/a.go":                 "src/a.go",
		root + "//src/./a.go":              "src/a.go",
		root + "/gone/b.go":                "gone/b.go",
		root:                               ".",
		root + "/":                         ".",
		top + "/other/src/a.go":            "src/a.go",
		"file://" + root + "/src/a.go":     "src/a.go",
		"FILE:" + root + "/src/a.go":       "src/a.go",
		"file://localhost" + root + "/x":   "x",
		"file://" + root + "/src/a%20b.go": "src/a b.go",
		`src\a.go`:                         "src/a.go",
		`.\src\a.go`:                       "src/a.go",
		root + `/src\a.go`:                 "src/a.go",

		// Unchanged.
		"":                             "",
		"-":                            "-",
		root + "/-":                    root + "/-",
		`src/odd\name.go`:              `src/odd\name.go`,
		`src\gone.go`:                  `src\gone.go`,
		"../a.go":                      "../a.go",
		root + "/../etc/passwd":        root + "/../etc/passwd",
		root + "/src/../../etc/passwd": root + "/src/../../etc/passwd",
		"link/../a.go":                 "link/../a.go", // This is elsewhere/../a.go.
		"gone/../a.go":                 "gone/../a.go",
		root + "x/a.go":                root + "x/a.go",
		top + "/elsewhere/a.go":        top + "/elsewhere/a.go",
		"/etc/passwd":                  "/etc/passwd",
		"//host/share/a.go":            "//host/share/a.go",
		"file://host" + root + "/a.go": "file://host" + root + "/a.go",
		"file://" + root + "/a.go#L1":  "file://" + root + "/a.go#L1",
		"file://" + root + "/a.go?x":   "file://" + root + "/a.go?x",
		"file://" + root + "/%zz":      "file://" + root + "/%zz",
		"file://" + root + "/%00":      "file://" + root + "/%00",
		"file://" + root + "/%ff":      "file://" + root + "/%ff",
		"file:src/a.go":                "file:src/a.go",
		root + "/file:/a.go":           root + "/file:/a.go",
		"https://example.org/a.go":     "https://example.org/a.go",
		`C:\project\src\a.go`:          `C:\project\src\a.go`,
		root + "/" + strings.Repeat("x/", maxPath): root + "/" + strings.Repeat("x/", maxPath),
	} {
		if got := m.relative(file); got != want {
			t.Errorf("%q became %q, want %q", file, got, want)
		}
	}
}

// TestPathsOfWindowsBecomeRelative knows the root only by its name.
func TestPathsOfWindowsBecomeRelative(t *testing.T) {
	for _, c := range []struct{ root, file, want string }{
		{"C:/Work/shop", `c:\work\SHOP\src\a.go`, "src/a.go"},
		{"C:/Work/shop", "C:/Work/shop/src/a.go", "src/a.go"},
		{"C:/Work/shop", "file:///C:/Work/shop/src/a%20b.go", "src/a b.go"},
		{"C:/Work/shop", "/C:/Work/shop/src/a.go", "src/a.go"},
		{"C:/Work/shop", `.\src\a.go`, "src/a.go"},
		{"C:/Work/shop", `D:\Work\shop\a.go`, `D:\Work\shop\a.go`},
		{"C:/Work/shop", `C:\Work\shopping\a.go`, `C:\Work\shopping\a.go`},
		{"C:/Work/shop", `C:\Work\shop\..\a.go`, `C:\Work\shop\..\a.go`},
		{"C:/", `C:\a.go`, "a.go"},
		{"//host/share/shop", `\\HOST\share\shop\src\a.go`, "src/a.go"},
		{"//host/share/shop", "file://host/share/shop/src/a.go", "src/a.go"},
		{"//host/share/shop", `\\other\share\shop\a.go`, `\\other\share\shop\a.go`},
	} {
		m := &pathMapper{name: c.root, windows: true, known: make(map[string]bool)}
		if got := m.relative(c.file); got != c.want {
			t.Errorf("in %s, %q became %q, want %q", c.root, c.file, got, c.want)
		}
	}
}

// TestMappedPathsLeadToTheSameFile checks that a mapped path names the same file as
// before, stays in the project and is not changed by mapping it again.
func TestMappedPathsLeadToTheSameFile(t *testing.T) {
	top := makeTree(t, "p/a/b", "p/a/c/d", `p/a\b`, `p/a/c\d`, "p/file:/a/b", "p/in -> a/c", "p/out -> ../q/r", "p/up -> ..", "p/self -> .", "q/r/b", "q/b", "b", "l -> p")
	root := filepath.Join(top, "p")
	m := newPathMapper(root)
	defer m.close()
	elements := []string{"a", "b", "c", "d", "in", "out", "up", "self", ".", "..", "", `a\b`, `c\d`, "gone", "p", "q", "l", "file:", "-"}
	rapid.Check(t, func(t *rapid.T) {
		prefix := rapid.SampledFrom([]string{"", "./", root + "/", top + "/l/", top + "/", root + "/up/", "/", `.\`, root + `\`, root + `/in\`}).Draw(t, "prefix")
		path := prefix + strings.Join(rapid.SliceOfN(rapid.SampledFrom(elements), 0, 6).Draw(t, "elements"), rapid.SampledFrom([]string{"/", `\`}).Draw(t, "separator"))
		file := path
		if rapid.Bool().Draw(t, "uri") && strings.HasPrefix(path, "/") {
			file = "file://" + path
		}
		mapped := m.relative(file)
		if again := m.relative(mapped); again != mapped {
			t.Fatalf("%q became %q, and then %q", file, mapped, again)
		}
		if mapped == file {
			return
		}
		if !filepath.IsLocal(mapped) {
			t.Fatalf("%q became %q, which is not in the project", file, mapped)
		}
		named := path
		if !filepath.IsAbs(path) {
			named = root + "/" + path // Not joined, so that the system resolves it.
		}
		before, err := os.Stat(named)
		if err != nil {
			return
		}
		if after, err := os.Stat(root + "/" + mapped); err != nil || !os.SameFile(before, after) {
			t.Fatalf("%q became %q, another file (%v)", file, mapped, err)
		}
	})
}

func FuzzRelativePath(f *testing.F) {
	for _, seed := range []string{"a", "./a", "/a/../b", `a\b`, "file:///a%2Fb", "file:a", "C:/x", "-", "//h/s"} {
		f.Add(seed)
	}
	root := f.TempDir()
	f.Fuzz(func(t *testing.T, file string) {
		for _, windows := range []bool{false, true} {
			m := newPathMapper(root)
			defer m.close()
			m.windows = windows
			for _, file := range []string{file, root + "/" + file, "file://" + root + "/" + file} {
				mapped := m.relative(file)
				if again := m.relative(mapped); again != mapped {
					t.Errorf("windows %v: %q became %q, and then %q", windows, file, mapped, again)
				}
				if mapped != file && !filepath.IsLocal(mapped) {
					t.Errorf("windows %v: %q became %q", windows, file, mapped)
				}
			}
		}
	})
}
