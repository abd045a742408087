package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestCompatPageNamesItsTests checks that every fault on the page names scripts or
// tests that exist.
func TestCompatPageNamesItsTests(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(repository, "docs", "compat.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, faults, _ := strings.Cut(string(page), "\n## Faults of nubos-pilot that the verbs do not have\n")
	rows := tableRows(faults, 2)
	if len(rows) < 10 {
		t.Fatalf("the page lists %d faults", len(rows))
	}
	for _, row := range rows[2:] {
		scripts := scriptsOf(row[1])
		for _, script := range scripts {
			if _, err := os.Stat(filepath.Join("testdata", "script", script+".txtar")); err != nil {
				t.Error(err)
			}
		}
		if len(scripts)+testsExist(t, row[1]) == 0 {
			t.Errorf("%q names no script and no test", row[0])
		}
	}
}

// TestCompatPageNamesEveryFlag compares the page's tables with the verbs.
func TestCompatPageNamesEveryFlag(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(repository, "docs", "compat.md"))
	if err != nil {
		t.Fatal(err)
	}
	verbs, _, _ := strings.Cut(string(page), "\n## What is different\n")
	for _, cmd := range newRootCmd(&app{}, nil).Commands() {
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

// tableRows returns the rows with this number of cells in a page's tables, headers
// included.
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

// scriptsOf returns the scripts that a cell names.
func scriptsOf(cell string) []string {
	var scripts []string
	for _, m := range regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(cell, -1) {
		scripts = append(scripts, m[1])
	}
	return scripts
}

// testsExist fails unless the Go tests that a cell names, such as
// internal/agent/research.TestX, exist, and returns their number.
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
