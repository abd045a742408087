package doccheck_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// TestVocabulary checks that no identifier that the module declares, and no name of a
// file or directory, has a word that docs/vocabulary.md bans.
func TestVocabulary(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(repository, "docs", "vocabulary.md"))
	if err != nil {
		t.Fatal(err)
	}
	banned := bannedWords(string(page))
	if len(banned) < 30 {
		t.Fatalf("the page bans only %d words", len(banned))
	}
	err = filepath.WalkDir(repository, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (slices.Contains([]string{".git", "bin", "dist", "node_modules"}, d.Name()) || path == filepath.Join(repository, "testdata")) {
			return filepath.SkipDir
		}
		for _, word := range words(d.Name()) {
			if banned[word] {
				t.Errorf("%s: the name has the banned word %q", path, word)
			}
		}
		if !d.IsDir() && strings.HasSuffix(path, ".go") {
			checkFile(t, path, banned)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// bannedWords returns the words of the page's last section that stand in backquotes.
func bannedWords(page string) map[string]bool {
	_, section, _ := strings.Cut(page, "\n## Banned words\n")
	banned := make(map[string]bool)
	for _, m := range regexp.MustCompile("`([a-z]+)`").FindAllStringSubmatch(section, -1) {
		banned[m[1]] = true
	}
	return banned
}

// checkFile checks the identifiers that a Go file declares.
func checkFile(t *testing.T, path string, banned map[string]bool) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Error(err)
		return
	}
	for _, name := range declared(file) {
		for _, word := range words(name.Name) {
			if banned[word] {
				t.Errorf("%s: %s has the banned word %q", files.Position(name.Pos()), name.Name, word)
			}
		}
	}
}

// declared returns the names of a file's package, types, functions, fields, variables,
// constants, labels and named imports.
func declared(file *ast.File) []*ast.Ident {
	names := []*ast.Ident{file.Name}
	add := func(exprs ...ast.Expr) {
		for _, e := range exprs {
			if name, ok := e.(*ast.Ident); ok && name != nil {
				names = append(names, name)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			add(n.Name)
		case *ast.TypeSpec:
			add(n.Name)
		case *ast.ImportSpec:
			add(n.Name)
		case *ast.LabeledStmt:
			add(n.Label)
		case *ast.ValueSpec:
			names = append(names, n.Names...)
		case *ast.Field:
			names = append(names, n.Names...)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				add(n.Lhs...)
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				add(n.Key, n.Value)
			}
		}
		return true
	})
	return slices.DeleteFunc(names, func(n *ast.Ident) bool { return n == nil })
}

// words splits a name into its words, in lower case, as in "lease", "lock", "ttl" for
// leaseLockTTL and lease_lock.ttl.
func words(name string) []string {
	var list []string
	runes := []rune(name)
	start := 0
	cut := func(end int) {
		if end > start {
			list = append(list, strings.ToLower(string(runes[start:end])))
		}
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r):
			cut(i)
			start = i + 1
		case unicode.IsUpper(r) && i > start && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			cut(i)
			start = i
		}
	}
	cut(len(runes))
	return list
}

func TestWords(t *testing.T) {
	for name, want := range map[string]string{
		"leaseLockTTL": "lease lock ttl", "HTTPServer": "http server", "lease_lock.go": "lease lock go", "a1B2": "a b", "x": "x", "Übung": "übung",
	} {
		if got := strings.Join(words(name), " "); got != want {
			t.Errorf("%s: got %s", name, got)
		}
	}
	if got := fmt.Sprint(words("_")); got != "[]" {
		t.Errorf("got %s", got)
	}
}
