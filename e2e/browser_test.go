package e2e

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// pageTime is the browser's time limit for a page.
const pageTime = time.Minute

// browser is a headless Chromium, and a site on loopback that it may request.
type browser struct {
	program string
	site    *httptest.Server
	mu      sync.Mutex
	files   map[string]string
	asked   []string
}

// newBrowser skips the test if there is no Chromium.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	needEnabled(t)
	b := &browser{files: make(map[string]string)}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if program, err := exec.LookPath(name); err == nil {
			b.program = program
			break
		}
	}
	if b.program == "" {
		t.Skip("there is no Chromium to look at pages with: apt-get install chromium")
	}
	b.site = httptest.NewServer(b)
	t.Cleanup(b.site.Close)
	return b
}

// ServeHTTP serves the files and records the requests.
func (b *browser) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	text, ok := b.files[r.URL.Path]
	b.asked = append(b.asked, r.URL.Path)
	b.mu.Unlock()
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte(text)) // The client detects a short response.
}

// put adds a file to the site, and returns its address.
func (b *browser) put(path, text string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.files[path] = text
	return b.site.URL + path
}

// requests returns the requests since the last call.
func (b *browser) requests() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	asked := b.asked
	b.asked = nil
	return asked
}

// visit opens an address with these flags, and returns the browser's output and its
// console. It can reach only loopback.
func (b *browser) visit(t *testing.T, url string, flags ...string) (stdout, console string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), pageTime)
	defer cancel()
	args := []string{
		"--headless=new", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-background-networking", "--disable-component-update",
		"--disable-sync", "--user-data-dir=" + t.TempDir(), "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
		"--enable-logging=stderr", "--force-device-scale-factor=1",
	}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox") // Chromium's sandbox does not work for root.
	}
	cmd := exec.CommandContext(ctx, b.program, append(append(args, flags...), url)...)
	cmd.WaitDelay = 5 * time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v: %s", url, err, errs.String())
	}
	var said []string
	for line := range strings.Lines(errs.String()) {
		if strings.Contains(line, "CONSOLE") {
			said = append(said, line)
		}
	}
	return out.String(), strings.Join(said, "")
}

// measure opens a page of the site in a frame of that width, and returns the value of a
// JavaScript expression, in which doc is the frame's document.
func (b *browser) measure(t *testing.T, path string, width int, expression string) string {
	t.Helper()
	frame := b.put("/frame", fmt.Sprintf(`<!DOCTYPE html><body style="margin:0"><pre id="said"></pre>
<iframe id="f" style="border:0;width:%dpx;height:800px" src="%s"></iframe>
<script>document.getElementById("f").onload = function () {
  const frame = this, doc = this.contentDocument;
  document.getElementById("said").textContent = "[" + (%s) + "]";
};</script>`, width, path, expression))
	dom, _ := b.visit(t, frame, "--virtual-time-budget=5000", "--dump-dom")
	_, rest, ok := strings.Cut(dom, `<pre id="said">[`)
	said, _, closed := strings.Cut(rest, "]</pre>")
	if !ok || !closed {
		t.Fatalf("nothing was measured: %.500s", dom)
	}
	return said
}

// screenshot returns an image of a page, in a frame if it is narrower than the
// browser's minimum window.
func (b *browser) screenshot(t *testing.T, path string, width int, dark bool) image.Image {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.png")
	frame := b.put("/frame", fmt.Sprintf(`<!DOCTYPE html><body style="margin:0"><iframe style="border:0;width:%dpx;height:1200px" src="%s"></iframe>`, width, path))
	flags := []string{fmt.Sprintf("--window-size=%d,1200", max(width, 600)), "--screenshot=" + file}
	if dark {
		flags = append(flags, "--blink-settings=preferredColorScheme=0")
	}
	b.visit(t, frame, flags...)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	shot, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if dir := os.Getenv(shotsVariable); dir != "" {
		name := fmt.Sprintf("%s-%d-dark-%v.png", strings.Trim(path, "/"), width, dark)
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return shot
}

// shotsVariable names a directory in which screenshots are kept for inspection.
const shotsVariable = "SWITCHYARD_E2E_SHOTS"

// colors counts the different colors of an image.
func colors(shot image.Image) int {
	seen := make(map[[3]uint32]bool)
	for y := shot.Bounds().Min.Y; y < shot.Bounds().Max.Y; y++ {
		for x := shot.Bounds().Min.X; x < shot.Bounds().Max.X; x++ {
			r, g, b, _ := shot.At(x, y).RGBA()
			seen[[3]uint32{r, g, b}] = true
		}
	}
	return len(seen)
}

// TestBrowserWouldTell tests the tools of the page tests: the browser must detect
// scripts, requests and content that is too wide.
func TestBrowserWouldTell(t *testing.T) {
	b := newBrowser(t)
	bad := b.put("/bad", `<!DOCTYPE html><title>x</title><div style="width:700px">x</div><img src="/picture"><script>console.error("a fault")</script>`)
	b.requests()
	if _, console := b.visit(t, bad, "--virtual-time-budget=2000", "--dump-dom"); !strings.Contains(console, "a fault") {
		t.Errorf("the console said %q", console)
	}
	if asked := b.requests(); !slices.Contains(asked, "/picture") {
		t.Errorf("the browser asked for %v", asked)
	}
	if got := b.measure(t, "/bad", 360, "doc.documentElement.scrollWidth"); got < "700" || len(got) != 3 {
		t.Errorf("what is 700 pixels wide is measured as %s", got)
	}
}
