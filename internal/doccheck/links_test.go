package doccheck_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const repository = "../.."

// TestLinks checks that the relative links of all pages lead to a file or directory,
// those with a fragment to a heading, and those that name a test to that test.
func TestLinks(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(repository, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	records, err := filepath.Glob(filepath.Join(repository, "docs", "adr", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	others, err := filepath.Glob(filepath.Join(repository, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	pages = slices.Concat(pages, records, others)
	if len(pages) < 40 {
		t.Fatalf("only %d pages found", len(pages))
	}
	link := regexp.MustCompile("(?:`((?:Test|Fuzz)[A-Za-z]+)`)?" + `\]\(([^)\s]+)\)`)
	for _, page := range pages {
		for _, m := range link.FindAllStringSubmatch(read(t, page), -1) {
			path, fragment, _ := strings.Cut(m[2], "#")
			if strings.Contains(path, "://") {
				continue
			}
			to := page
			if path != "" {
				to = filepath.Join(filepath.Dir(page), filepath.FromSlash(path))
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: the link to %s is broken: %v", page, m[2], err)
				continue
			}
			if m[1] != "" && !strings.Contains(read(t, to), "func "+m[1]+"(") {
				t.Errorf("%s: %s has no %s", page, to, m[1])
			}
			if fragment != "" && !anchors(read(t, to))[fragment] {
				t.Errorf("%s: %s has no heading #%s", page, to, fragment)
			}
		}
	}
}

// anchors returns the fragments of a page's headings, as GitHub makes them.
func anchors(page string) map[string]bool {
	all := make(map[string]bool)
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(page, -1) {
		text := strings.ToLower(regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(m[1], ""))
		all[strings.ReplaceAll(text, " ", "-")] = true
	}
	return all
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
