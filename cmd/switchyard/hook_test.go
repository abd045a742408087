package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/hook"
)

// stops runs the Stop hook for a session in the project.
func (p *program) stops(t *testing.T, session string) hook.Output {
	t.Helper()
	cmd := p.command(t.Context(), "hook", "stop", "--limit", "30s")
	cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id": %q, "cwd": %q, "hook_event_name": "Stop"}`, session, p.dir))
	text, err := cmd.Output()
	var out hook.Output
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Errorf("%v: %s", err, text)
	}
	return out
}

// TestStopsAtOnce tests that of many sessions that end at once in the same files, one is
// blocked.
func TestStopsAtOnce(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	p.write(t, "switchyard.yaml", "max_rounds: 100\n")
	if _, _, err := p.round(t.Context(), "task", p.style); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	blocked := 0
	for i := range processes {
		all.Go(func() {
			out := p.stops(t, fmt.Sprint("s-", i))
			mu.Lock()
			defer mu.Unlock()
			if out.Decision == hook.Block {
				blocked++
			} else if !strings.Contains(out.Message, "task has 1 open finding") {
				t.Errorf("got %+v", out)
			}
		})
	}
	all.Wait()
	if blocked != 1 {
		t.Errorf("%d sessions are blocked", blocked)
	}
}

// TestStopWithLockedLedger tests that a block that cannot be recorded does not block, and
// that a hook that was killed meanwhile has recorded none.
func TestStopWithLockedLedger(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it waits for ten seconds")
	}
	t.Parallel()
	p := newProgram(t)
	if _, _, err := p.round(t.Context(), "task", p.style); err != nil {
		t.Fatal(err)
	}
	db := openDatabase(t, filepath.Join(p.dir, ".switchyard", "ledger.db"))
	if _, err := db.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	killed := p.command(t.Context(), "hook", "stop")
	killed.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id": "s", "cwd": %q, "hook_event_name": "Stop"}`, p.dir))
	var text bytes.Buffer
	killed.Stdout = &text
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(2*time.Second, func() { _ = killed.Process.Kill() })
	if out := p.stops(t, "s"); out.Decision != "" || !strings.Contains(out.Message, "[ledger-busy]") {
		t.Errorf("got %+v", out)
	}
	if err := killed.Wait(); err == nil || text.Len() > 0 {
		t.Errorf("the killed hook says %q, %v", text.String(), err)
	}
	if _, err := db.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if out := p.stops(t, "s"); out.Decision != hook.Block {
		t.Errorf("once the lock is gone: %+v", out)
	}
}
