package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/stats"
)

// statsPages returns pages of the ledgers in internal/stats/testdata, by their names on
// the site.
func statsPages(t *testing.T) map[string]string {
	t.Helper()
	pages := make(map[string]string)
	for _, name := range []string{"empty", "week", "months", "hostile"} {
		data, err := os.ReadFile(filepath.Join("..", "internal", "stats", "testdata", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var s stats.Stats
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		now := time.Date(2026, 5, 13, 8, 30, 0, 0, time.UTC)
		if err := s.HTML(&text, stats.Page{Project: "shop", Now: now, Version: "v1.2.3"}); err != nil {
			t.Fatal(err)
		}
		pages["/"+name] = text.String()
	}
	return pages
}

// TestStatsPageInABrowser tests that a page of stats prints nothing on the console,
// requests nothing, has no script, and fits a phone.
func TestStatsPageInABrowser(t *testing.T) {
	b := newBrowser(t)
	for name, text := range statsPages(t) {
		url := b.put(name, text)
		b.requests()
		dom, console := b.visit(t, url, "--virtual-time-budget=2000", "--dump-dom")
		if console != "" {
			t.Errorf("%s: the console says %s", name, console)
		}
		if asked := b.requests(); !slices.Equal(asked, []string{name}) {
			t.Errorf("%s: the browser asked for %v", name, asked)
		}
		if !strings.Contains(dom, "<h1>shop</h1>") {
			t.Errorf("%s: there is no heading", name)
		}
		// It also fits with the tables of numbers open.
		got := b.measure(t, name, 320, `[320, 360, 1280].map(width => {
  frame.style.width = width + "px";
  doc.querySelectorAll("details").forEach(d => d.open = width > 320);
  return doc.documentElement.scrollWidth;
})`)
		if got != "320,360,1280" {
			t.Errorf("%s: at widths of 320, 360 and 1280 pixels it is %s wide", name, got)
		}
		foreign := strings.Count(dom, "<script") + strings.Count(dom, "<img") + strings.Count(dom, "<link") + strings.Count(dom, "<x")
		if foreign+strings.Count(dom, "<style") != 1 {
			t.Errorf("%s: %d strange elements, %d style sheets", name, foreign, strings.Count(dom, "<style"))
		}
	}
}

// TestStatsChartsInABrowser tests that the heights of charts match their numbers at any
// width.
func TestStatsChartsInABrowser(t *testing.T) {
	b := newBrowser(t)
	b.put("/months", statsPages(t)["/months"])
	for _, width := range []int{360, 1280} {
		got := b.measure(t, "/months", width, `(() => {
  const svg = doc.querySelector("[aria-labelledby='t-routes d-routes']"), box = svg.getBoundingClientRect();
  const parts = [...svg.querySelectorAll("rect")].map(r => r.getBoundingClientRect());
  const low = Math.max(...parts.map(p => p.bottom)), right = Math.max(...parts.map(p => p.right));
  return [parts.length > 20, Math.abs(low - box.bottom) < 1.5, right <= box.right + 1, box.width > doc.documentElement.clientWidth * 0.6];
})()`)
		if got != "true,true,true,true" {
			t.Errorf("at %d pixels: there are parts, they stand on the foot, end inside, and the chart is wide: %s", width, got)
		}
	}
}

func TestStatsPageIsLightAndDark(t *testing.T) {
	b := newBrowser(t)
	b.put("/months", statsPages(t)["/months"])
	for _, width := range []int{1280, 390} {
		for _, dark := range []bool{false, true} {
			shot := b.screenshot(t, "/months", width, dark)
			red, green, blue, _ := shot.At(2, 2).RGBA()
			if sum := red>>8 + green>>8 + blue>>8; dark != (sum < 128) {
				t.Errorf("width %d, dark %v: the ground is %d of 765 bright", width, dark, sum)
			}
			if n := colors(shot); n < 50 {
				t.Errorf("width %d, dark %v: there are %d colors", width, dark, n)
			}
		}
	}
}

func TestStatsPagePrints(t *testing.T) {
	b := newBrowser(t)
	url := b.put("/months", statsPages(t)["/months"])
	file := filepath.Join(t.TempDir(), "page.pdf")
	b.visit(t, url, "--no-pdf-header-footer", "--print-to-pdf="+file)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(text, []byte("%PDF-")) {
		t.Fatalf("it begins %q", text[:min(len(text), 20)])
	}
	if n := bytes.Count(text, []byte("/Type /Page\n")); n < 2 || n > 4 {
		t.Errorf("it prints on %d pages", n)
	}
}

// TestStatsPageOfTheProgram tests the page that the program writes.
func TestStatsPageOfTheProgram(t *testing.T) {
	b := newBrowser(t)
	program := filepath.Join(t.TempDir(), "switchyard")
	dir := t.TempDir()
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Env = append(os.Environ(), "SWITCHYARD_CACHE_DIR="+filepath.Join(dir, "cache"))
		cmd.WaitDelay = 5 * time.Second
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s %v: %v", name, args, err)
		}
		return string(out)
	}
	run("go", "build", "-o", program, "github.com/switchyard-dev/switchyard/cmd/switchyard")
	project := filepath.Join(dir, "shop & sons")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"switchyard.yaml": "max_rounds: 3\n",
		"found.json":      `{"critic": "critic", "findings": [{"category": "</script><script>alert(1)</script>", "remediation": "x"}]}`,
		"clean.json":      `{"critic": "critic", "findings": []}`,
	} {
		if err := os.WriteFile(filepath.Join(project, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(program, "-C", project, "round", "T1", "--report", "found.json")
	run(program, "-C", project, "round", "T2", "--report", "clean.json")
	url := b.put("/program", run(program, "-C", project, "stats", "--html", "-"))
	dom, console := b.visit(t, url, "--virtual-time-budget=2000", "--dump-dom")
	if console != "" || !strings.Contains(dom, "<h1>shop &amp; sons</h1>") || !strings.Contains(dom, "&lt;/script&gt;&lt;script&gt;alert(1)") {
		t.Errorf("the console says %q, the page is %.2000s", console, dom)
	}
}
