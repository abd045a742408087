package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/project"
)

// serving starts the program's server in a project. It returns its URL, its later
// Output on standard error, and a function that stops it and fails unless it exits with
// 0.
func serving(t *testing.T, p *program, args ...string) (url string, more func() string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cmd := p.command(ctx, append([]string{"metrics", "serve", "--listen", "127.0.0.1:0"}, args...)...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stderr)
	first, err := lines.ReadString('\n')
	if err != nil {
		t.Fatalf("it says nothing: %v", err)
	}
	var mu sync.Mutex
	var text strings.Builder
	read := make(chan struct{})
	go func() {
		defer close(read)
		for {
			line, err := lines.ReadString('\n')
			mu.Lock()
			text.WriteString(line)
			mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			defer cancel()
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Errorf("stop it: %v", err)
			}
			<-read
			if err := cmd.Wait(); err != nil {
				t.Errorf("it ends with %v: %s", err, text.String())
			}
		})
	}
	t.Cleanup(stop)
	var at struct {
		Serving string `json:"serving"`
		Open    bool   `json:"open"`
	}
	if err := json.Unmarshal([]byte(first), &at, json.RejectUnknownMembers(true)); err != nil || at.Serving == "" || at.Open {
		t.Fatalf("it says %q: %v", first, err)
	}
	return at.Serving, func() string {
		mu.Lock()
		defer mu.Unlock()
		return text.String()
	}, stop
}

// fetch gets a page.
func fetch(t *testing.T, url string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// events returns the number of the ledger's events from a scrape.
func events(t *testing.T, url string) string {
	t.Helper()
	status, text := fetch(t, url)
	m := regexp.MustCompile(`(?m)^switchyard_ledger_events_total (\S+)$`).FindStringSubmatch(text)
	if status != 200 || m == nil {
		t.Fatalf("%d:\n%s", status, text)
	}
	return m[1]
}

// TestServeFollowsTheLedger tests that each scrape shows the ledger at that moment,
// even if it was created, moved away or restored meanwhile, and that rounds continue.
func TestServeFollowsTheLedger(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	url, more, stop := serving(t, p)
	if got := events(t, url); got != "0" {
		t.Errorf("%s events before the first", got)
	}
	round := func(task string) {
		t.Helper()
		if _, stderr, err := p.run(t.Context(), "round", task, "--report", p.style); err != nil {
			t.Fatalf("%v: %s", err, stderr)
		}
	}
	round("A")
	before := events(t, url)
	if before == "0" {
		t.Error("no events after a round")
	}
	round("B")
	if got := events(t, url); got == before {
		t.Errorf("%s events still", got)
	}
	state, away := filepath.Join(p.dir, project.StateDir), filepath.Join(p.dir, "away")
	if err := os.Rename(state, away); err != nil {
		t.Fatal(err)
	}
	if status, text := fetch(t, url); status != 503 || text != "no metrics right now [metrics-ledger-gone]\n" {
		t.Errorf("%d %q", status, text)
	}
	p.write(t, filepath.Join(project.StateDir, "ledger.db"), "This is no database, and it is long enough not to be an empty one.")
	for range 3 {
		for _, page := range []string{url, strings.TrimSuffix(url, "metrics") + "healthz"} {
			if status, text := fetch(t, page); status != 503 || text != "no metrics right now [ledger-corrupt]\n" {
				t.Errorf("%d %q", status, text)
			}
		}
	}
	if err := os.RemoveAll(state); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(away, state); err != nil {
		t.Fatal(err)
	}
	if got := events(t, url); got == "0" || got == before {
		t.Errorf("%s events of the ledger that came back", got)
	}
	if status, text := fetch(t, strings.TrimSuffix(url, "metrics")+"healthz"); status != 200 || text != "ok\n" {
		t.Errorf("%d %q", status, text)
	}
	stop()
	if reported := more(); strings.Count(reported, "\n") != 3 || !strings.Contains(reported, "warning: ") || !strings.Contains(reported, "the metrics can be read again") {
		t.Errorf("it tells %q", reported)
	}
}

// TestServeWhileRoundsGoOn tests that scrapes neither delay rounds nor fail during
// them, and that counters never fall.
func TestServeWhileRoundsGoOn(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	url, more, stop := serving(t, p)
	var rounds sync.WaitGroup
	for task := range 4 {
		rounds.Go(func() {
			for range 2 {
				if _, stderr, err := p.run(t.Context(), "round", "T"+strconv.Itoa(task), "--report", p.style); err != nil {
					t.Errorf("%v: %s", err, stderr)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() {
		rounds.Wait()
		close(done)
	}()
	before := 0.0
	for last := false; ; {
		now, err := strconv.ParseFloat(events(t, url), 64)
		if err != nil || now < before {
			t.Fatalf("%v events after %v: %v", now, before, err)
		}
		if before = now; last {
			break
		}
		select {
		case <-done:
			last = true
		default:
		}
	}
	if before < 8 {
		t.Errorf("%v events of 8 rounds", before)
	}
	stop()
	if reported := more(); reported != "" {
		t.Errorf("it tells %q", reported)
	}
}

// TestServeSaysWhereItIs tests that the address is also printed as text, with a warning
// if it is reachable from other machines.
func TestServeSaysWhereItIs(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	cmd := exec.CommandContext(t.Context(), "switchyard", "-C", p.dir, "metrics", "serve", "--listen", ":0")
	cmd.Env = append(os.Environ(), raceAtExit)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stderr)
	for _, want := range []string{
		`^switchyard: serving http://\S+:[1-9][0-9]*/metrics\n$`,
		`^switchyard: warning: everyone who can reach http://\S+:[1-9][0-9]*/metrics can read the metrics; `,
	} {
		line, err := lines.ReadString('\n')
		if err != nil || !regexp.MustCompile(want).MatchString(line) {
			t.Errorf("%q, %v", line, err)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(lines)
	if err := cmd.Wait(); err != nil || len(rest) != 0 {
		t.Errorf("it ends with %v: %s", err, rest)
	}
}
