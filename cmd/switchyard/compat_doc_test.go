package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestCompatPage holds docs/compat.md against the scripts and tests: every behaviour
// of the reference that is the loop's, the spawner's or the researchers' is there
// once. A script that it names names the behaviour in turn, and a Go test is there.
func TestCompatPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(repository, "docs", "compat.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, behaviours, found := strings.Cut(string(page), "\n## Behaviours\n")
	if !found {
		t.Fatal("the page lists no behaviours")
	}
	rows := map[int]int{}
	for _, row := range tableRows(behaviours, 4) {
		n, err := strconv.Atoi(row[0])
		if err != nil {
			continue // The table's head.
		}
		rows[n]++
		if row[1] == "" || row[2] == "" && row[3] == "" {
			t.Errorf("%d says neither where it is shown nor why not: %q", n, row)
		}
		for _, script := range scriptsOf(row[2]) {
			for id := range strings.SplitSeq(row[1], ", ") {
				scriptNames(t, script, id)
			}
		}
		testsExist(t, row[2])
	}
	for n := 1; n <= 229; n++ {
		want := 0
		switch {
		case n <= 80, n == 84, n == 85, n == 87, n >= 99 && n <= 103, n == 110, n == 111, n == 202, n >= 113 && n <= 167, n >= 171 && n <= 201, n >= 210 && n <= 224:
			want = 1
		}
		if rows[n] != want {
			t.Errorf("behaviour %d is listed %d times, want %d", n, rows[n], want)
		}
	}
}

// TestCompatPageOnWeaknesses wants a script or a test for each weakness of the
// reference that its verbs have.
func TestCompatPageOnWeaknesses(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(repository, "docs", "compat.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, weaknesses, _ := strings.Cut(string(page), "\n## What it got wrong\n")
	weaknesses, _, _ = strings.Cut(weaknesses, "\n## ")
	listed := map[string]int{}
	for _, row := range tableRows(weaknesses, 3) {
		listed[row[0]]++
		for _, script := range scriptsOf(row[2]) {
			scriptNames(t, script, "Weakness "+row[0])
			listed[row[0]+" shown"]++
		}
		listed[row[0]+" shown"] += testsExist(t, row[2])
	}
	for _, n := range []int{3, 4, 5, 6, 7, 8, 12, 13, 14, 15, 16, 18, 19, 22, 24, 25, 26} {
		if listed[strconv.Itoa(n)] != 1 || listed[fmt.Sprintf("%d shown", n)] == 0 {
			t.Errorf("weakness %d is not listed once with a script or a test", n)
		}
	}
}

// TestCompatPageNamesEveryFlag holds the page's tables against the verbs.
func TestCompatPageNamesEveryFlag(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(repository, "docs", "compat.md"))
	if err != nil {
		t.Fatal(err)
	}
	verbs, _, _ := strings.Cut(string(page), "\n## What is different\n")
	for _, cmd := range newRootCmd(&app{}).Commands() {
		if cmd.GroupID != compatGroup {
			continue
		}
		if !strings.Contains(verbs, "`"+cmd.Name()) {
			t.Errorf("the page lacks %s", cmd.Name())
		}
		for _, flag := range regexp.MustCompile(`--[a-z-]+`).FindAllString(cmd.LocalFlags().FlagUsages(), -1) {
			if flag != "--force" && !regexp.MustCompile(flag+"[` ]").MatchString(verbs) {
				t.Errorf("the page lacks %s of %s", flag, cmd.Name())
			}
		}
	}
}

// tableRows are the rows of so many cells in a page's tables, heads included.
func tableRows(page string, cells int) [][]string {
	var rows [][]string
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if len(line) < 2 || line[0] != '|' || line[len(line)-1] != '|' {
			continue
		}
		row := strings.Split(line[1:len(line)-1], "|")
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		if len(row) == cells {
			rows = append(rows, row)
		}
	}
	return rows
}

// scriptsOf are the scripts that a cell names.
func scriptsOf(cell string) []string {
	var scripts []string
	for _, m := range regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(cell, -1) {
		scripts = append(scripts, m[1])
	}
	return scripts
}

// testsExist wants the Go tests that a cell names, as in internal/agent/research.TestX, and
// counts them.
func testsExist(t *testing.T, cell string) int {
	t.Helper()
	named := regexp.MustCompile("`([a-z/]+)\\.(Test[A-Za-z0-9]+)`").FindAllStringSubmatch(cell, -1)
	for _, m := range named {
		found := false
		walk(t, m[1], func(path, text string) {
			found = found || strings.HasSuffix(path, "_test.go") && strings.Contains(text, "func "+m[2]+"(")
		})
		if !found {
			t.Errorf("%s has no %s", m[1], m[2])
		}
	}
	return len(named)
}

// scriptNames wants a script that names an id, and not only a longer one.
func scriptNames(t *testing.T, script, id string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "script", script+".txtar"))
	if err != nil {
		t.Error(err)
		return
	}
	named := regexp.MustCompile(`(?m)^#.*[ ,]` + regexp.QuoteMeta(id) + `([^0-9A-Za-z/]|$)`)
	if !named.Match(text) {
		t.Errorf("%s has no comment on %s", script, id)
	}
}
