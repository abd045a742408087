package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/spawner"
)

// TestLiveLines checks what a terminal of 80 by 24 gets: each change in one piece, over the
// lines before, and nothing of them left in the end.
func TestLiveLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "terminal")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var lines []string
	l := &liveLines{f: f, lines: func() []string { return append([]string{}, lines...) }}
	read := 0
	wrote := func(want string) {
		t.Helper()
		text, err := os.ReadFile(path)
		if got := string(text[read:]); err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
		read = len(text)
	}
	above := func() { l.above(func() { fmt.Fprintln(f, "event") }) }
	above()
	wrote("event\n")
	lines = []string{"one", "two\x1b[2J"}
	l.draw()
	wrote("\rone\x1b[K\ntwo<U+001B>[2J\x1b[K\x1b[J")
	lines = []string{strings.Repeat("x", 100)}
	l.draw()
	wrote("\r\x1b[1A" + strings.Repeat("x", 78) + "…\x1b[K\x1b[J")
	above()
	wrote("\r\x1b[Jevent\n\r" + strings.Repeat("x", 78) + "…\x1b[K\x1b[J")
	lines = nil
	for i := range 30 {
		lines = append(lines, fmt.Sprint(i))
	}
	l.draw()
	if l.shown != 23 {
		t.Errorf("%d lines are shown in 24", l.shown)
	}
	text, _ := os.ReadFile(path)
	if !strings.HasSuffix(string(text), "\n21\x1b[K\n… and 8 more\x1b[K\x1b[J") {
		t.Errorf("got %q", text[read:])
	}
	read = len(text)
	l.clear()
	wrote("\r\x1b[22A\x1b[J")
	l.clear()
	wrote("")
	var none *liveLines
	none.above(func() { fmt.Fprintln(f, "event") })
	wrote("event\n")
}

func TestProgressLines(t *testing.T) {
	now := time.Now()
	var p progress
	for _, at := range []spawner.Progress{
		{Phase: spawner.Running, Agent: "critic", Adapter: "codex", Run: "a", Since: now.Add(-time.Second), Task: "T-2", Tokens: 12, Tool: "Bash"},
		{Phase: spawner.Running, Agent: "executor", Adapter: "claude", Run: "b", Since: now.Add(-time.Minute), Limit: 30 * time.Minute, Task: "T-1", Tool: "Edit", Note: "Reconnecting"},
		{Phase: spawner.Queued, Agent: "critic", Adapter: "claude", Run: "c", Since: now, Task: "T-3"},
		{Phase: spawner.Running, Agent: "verification", Run: "d", Since: now, Task: "T-4"},
	} {
		p.update(at)
	}
	want := []string{"executor (claude) 60 s of 30 min, Edit, Reconnecting", "critic (codex) 1 s, 12 tokens, Bash", "critic waits for a slot, 0 s", "verification 0 s"}
	if got := p.lines(now); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, want %q", got, want)
	}
	p.tasks = true
	for i, id := range []string{"T-1", "T-2", "T-3", "T-4"} {
		want[i] = id + "  " + want[i]
	}
	if got := p.lines(now); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, want %q", got, want)
	}
}
