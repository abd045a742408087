package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/docs"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/plugins/builtin"
)

const repository = "../.."

// documentedCode is a row of the tables of docs/errors.md.
type documentedCode struct{ code, meaning, hint string }

// documentedCodes returns the codes of docs/errors.md, and the problems of its last table
// by their names.
func documentedCodes(t *testing.T) (codes []documentedCode, problems map[string]bool) {
	t.Helper()
	tables, last, ok := strings.Cut(docs.Errors, "## What a plugin does wrong")
	if !ok {
		t.Fatal("docs/errors.md lacks the problems of plugins")
	}
	for line := range strings.Lines(tables) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "| "), " |\n"), " | ")
		if len(cells) != 3 || cells[1] == "" || cells[2] == "" {
			t.Fatalf("not a code, a meaning and a hint: %s", line)
		}
		codes = append(codes, documentedCode{strings.Trim(cells[0], "`"), cells[1], cells[2]})
	}
	problems = map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `[a-z-]+` \\| `([a-z0-9-]+)` \\| .+ \\|$").FindAllStringSubmatch(last, -1) {
		problems[m[1]] = true
	}
	return codes, problems
}

func TestHintFor(t *testing.T) {
	codes, _ := documentedCodes(t)
	for _, c := range codes {
		if got := render.HintFor(errs.Code(c.code)); got != c.hint {
			t.Errorf("the hint of %s is %q, want %q", c.code, got, c.hint)
		}
	}
	if got := render.HintFor("of-a-plugin"); got != "" {
		t.Errorf("an unknown code has the hint %q", got)
	}
}

// TestEveryProblemIsDocumented compares the table of problems with the plugins'
// sources, and requires a script that provokes each.
func TestEveryProblemIsDocumented(t *testing.T) {
	source, err := os.ReadFile(filepath.Join(repository, "internal", "plugin", "abi", "problem.go"))
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`Problem = "([a-z0-9-]+)"`).FindAllStringSubmatch(string(source), -1)
	_, listed := documentedCodes(t)
	if len(declared) == 0 || len(listed) != len(declared) {
		t.Errorf("%d problems are declared and %d documented", len(declared), len(listed))
	}
	var scripts strings.Builder
	walk(t, ".", func(path, text string) {
		if strings.HasSuffix(path, ".txtar") {
			scripts.WriteString(text)
		}
	})
	for _, d := range declared {
		if !listed[d[1]] {
			t.Errorf("%s is not documented", d[1])
		}
		if !strings.Contains(scripts.String(), `/error/details/problem '"`+d[1]+`"'`) {
			t.Errorf("no script provokes %s", d[1])
		}
	}
}

// TestEveryCodeIsDocumented compares the codes in the sources of the program and of its
// guests with the table.
func TestEveryCodeIsDocumented(t *testing.T) {
	declared := regexp.MustCompile(`Code = "([a-z0-9-]+)"`)
	prefixes := append(builtin.Names(), "critic-output", "plugin-config")
	spoken := regexp.MustCompile(`"((?:` + strings.Join(prefixes, "|") + `)-[a-z-]+)"`)
	found := map[errs.Code]bool{}
	collect := func(dir, ext string, code *regexp.Regexp) {
		walk(t, dir, func(path, text string) {
			if strings.HasSuffix(path, ext) && !strings.HasSuffix(path, "_test.go") {
				for _, m := range code.FindAllStringSubmatch(text, -1) {
					found[errs.Code(m[1])] = true
				}
			}
		})
	}
	collect("internal/errs", ".go", declared)
	collect("plugins/builtin", ".ts", spoken)
	collect("plugins/sdk", ".ts", spoken)
	if len(found) < 50 {
		t.Fatalf("only %d codes found", len(found))
	}
	listed := map[errs.Code]bool{}
	codes, _ := documentedCodes(t)
	for _, c := range codes {
		code := errs.Code(c.code)
		if listed[code] {
			t.Errorf("%s is documented twice", code)
		}
		if !found[code] {
			t.Errorf("%s is documented and nothing returns it", code)
		}
		listed[code] = true
	}
	for code := range found {
		if !listed[code] {
			t.Errorf("%s is not documented", code)
		}
	}
}

// TestEveryCodeIsProvoked fails if no test expects a documented code: a script of the
// real program, a conformance vector, or a Go test that names its constant.
func TestEveryCodeIsProvoked(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	var expectations strings.Builder
	walk(t, ".", func(path, text string) {
		switch {
		case strings.HasSuffix(path, "errors_test.go"):
		case strings.HasSuffix(path, ".txtar"), strings.HasSuffix(path, "_test.go"):
			expectations.WriteString(text)
		}
	})
	for _, dir := range []string{"cmd/switchyard-mcp", "fleet", "host", "internal", "metrics", "plugins", "policies", "spawner", "testdata/normalizers"} {
		walk(t, dir, func(path, text string) {
			if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".json") {
				expectations.WriteString(text)
			}
		})
	}
	constants := constantsByCode(t)
	text := expectations.String()
	named := map[string]bool{}
	for _, name := range regexp.MustCompile(`\berrs\.\w+`).FindAllString(text, -1) {
		named[name] = true
	}
	codes, _ := documentedCodes(t)
	for _, c := range codes {
		if !named[constants[errs.Code(c.code)]] && !strings.Contains(text, `"`+c.code+`"`) && !strings.Contains(text, `\[`+c.code+`\]`) {
			t.Errorf("no test provokes %s", c.code)
		}
	}
}

// constantsByCode maps each code to its constant in tests, such as errs.PolicyTimeout.
func constantsByCode(t *testing.T) map[errs.Code]string {
	constant := regexp.MustCompile(`([A-Za-z0-9]+)\s+Code = "([a-z0-9-]+)"`)
	names := map[errs.Code]string{}
	walk(t, "internal/errs", func(path, text string) {
		for _, m := range constant.FindAllStringSubmatch(text, -1) {
			names[errs.Code(m[2])] = "errs." + m[1]
		}
	})
	return names
}

// walk calls visit for every file below a directory of the repository.
func walk(t *testing.T, dir string, visit func(path, text string)) {
	t.Helper()
	if dir != "." {
		dir = filepath.Join(repository, dir)
	}
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && d.Name() == "node_modules" {
				return filepath.SkipDir
			}
			return err
		}
		text, err := os.ReadFile(path)
		files++
		visit(path, string(text))
		return err
	})
	if err != nil || files == 0 {
		t.Fatalf("%d files below %s: %v", files, dir, err)
	}
}

func TestUntypedErrorIsInternal(t *testing.T) {
	var stderr strings.Builder
	a := &app{Program: cli.Program{Streams: cli.Streams{Err: &stderr}, Output: cli.OutputJSON}}
	a.PrintError(fmt.Errorf("round: %w", io.ErrUnexpectedEOF), nil)
	if got := stderr.String(); !strings.Contains(got, `"code": "internal"`) || !strings.Contains(got, "round: unexpected EOF") {
		t.Errorf("got %s", got)
	}
}

func TestHelpNamesEveryExitStatus(t *testing.T) {
	for action, want := range map[string]int{"commit": 0, "executor": 10, "researcher": 11, "askuser": 12, "plan-checker": 13, "stuck": 14, "elsewhere": 15} {
		if got := cli.ExitOf(action); got != want {
			t.Errorf("%s exits with %d, want %d", action, got, want)
		}
	}
	for _, code := range []string{"  0  done", "  1  a fault", "  2  the command line"} {
		if !strings.Contains(cli.ExitStatus, code) {
			t.Errorf("the help lacks %q", code)
		}
	}
}
