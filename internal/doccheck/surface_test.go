package doccheck_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// maxExported is how many top-level names the module may export to other modules,
// without those of the plugin SDK and its test kit (docs/architecture.md).
const maxExported = 250

// TestSurface counts the exported top-level names that other modules can import.
func TestSurface(t *testing.T) {
	const root = "../.."
	perPackage := map[string]int{}
	total := 0
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			switch base := path.Base(rel); {
			case base == "internal", base == "testdata", base == "node_modules", rel == "plugins/sdk", rel == "plugins/plugintest",
				strings.HasPrefix(base, ".") && rel != ".":
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if f.Name.Name != "main" {
			n := exported(f)
			perPackage[path.Dir(rel)] += n
			total += n
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(perPackage) < 5 {
		t.Fatalf("only %d packages found: %v", len(perPackage), perPackage)
	}
	if total > maxExported {
		t.Errorf("the module exports %d top-level names; the limit is %d: %v", total, maxExported, perPackage)
	}
}

// exported counts a file's exported top-level names. Methods do not count.
func exported(f *ast.File) int {
	n := 0
	count := func(names ...*ast.Ident) {
		for _, name := range names {
			if name.IsExported() {
				n++
			}
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				count(d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					count(s.Name)
				case *ast.ValueSpec:
					count(s.Names...)
				}
			}
		}
	}
	return n
}
