package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/switchyard-dev/switchyard/internal/cli"
)

// processes is the number of real processes that work on one project at once.
const processes = 16

// program runs the real program in a new project.
type program struct {
	dir   string
	style string // a report that sends the task to the executor
	plan  string // a report that keeps the task in its round
}

// newProgram sets up a project. The plugins are compiled once for all processes of a
// test, so that the processes contend for the ledger.
func newProgram(t testing.TB) *program {
	t.Helper()
	p := &program{dir: t.TempDir()}
	if err := os.Mkdir(filepath.Join(p.dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.style = p.write(t, "style.json", `{"critic":"critic","findings":[{"category":"style","remediation":"x"}]}`)
	p.plan = p.write(t, "plan.json", `{"critic":"critic","findings":[{"category":"infrastructure-mismatch","remediation":"x"}]}`)
	if _, stderr, err := p.run(t.Context(), "route", "--report", p.style); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	return p
}

func (p *program) write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// allowRepeats lets a task repeat a decision permanently: from routing 1.2.0 on, that
// is no progress and ends as stuck.
func (p *program) allowRepeats(t testing.TB) {
	t.Helper()
	p.write(t, "switchyard.yaml", "policy: routing@1.1.0\n")
}

// command returns a run of the real program: TestMain has put it into PATH.
func (p *program) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "switchyard", append([]string{"-C", p.dir, "--output", "json"}, args...)...)
	cmd.Env = append(os.Environ(), cli.CacheVariable+"="+filepath.Join(p.dir, "cache"), raceAtExit)
	return cmd
}

// run runs the program to its end and returns its output.
func (p *program) run(ctx context.Context, args ...string) (stdout, stderr []byte, err error) {
	var out, complaint bytes.Buffer
	cmd := p.command(ctx, args...)
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err = cmd.Run()
	return out.Bytes(), complaint.Bytes(), err
}

// acknowledged is the printed result of a round that was recorded.
type acknowledged struct {
	TaskID    string `json:"task_id"`
	Round     int    `json:"round"`
	NextRound int    `json:"next_round"`
	Event     struct {
		N    int64  `json:"n"`
		Hash string `json:"hash"`
	} `json:"event"`
}

// round decides a round. retry is set if another process was faster.
func (p *program) round(ctx context.Context, task, report string) (a acknowledged, retry bool, err error) {
	stdout, stderr, err := p.run(ctx, "round", task, "--max-rounds", "100", "--report", report)
	if err == nil {
		return a, false, json.Unmarshal(stdout, &a)
	}
	if len(stdout) > 0 {
		return a, false, fmt.Errorf("a failed round wrote %s", stdout)
	}
	if codeOf(stderr) == "round-shifted" {
		return a, true, nil
	}
	return a, false, fmt.Errorf("%w: %s", err, stderr)
}

// codeOf reads the code of an error in JSON.
func codeOf(stderr []byte) string {
	var shown struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	// Warnings may precede it.
	at := max(0, bytes.Index(stderr, []byte("{\n")))
	if json.Unmarshal(stderr[at:], &shown) != nil {
		return ""
	}
	return shown.Error.Code
}

// history is explain's output for a task.
type history struct {
	Task struct {
		Round int `json:"round"`
	} `json:"task"`
	History []struct {
		Round     int `json:"round"`
		NextRound int `json:"next_round"`
		Event     struct {
			N    int64  `json:"n"`
			Hash string `json:"hash"`
		} `json:"event"`
	} `json:"history"`
}

func (p *program) history(t *testing.T, task string) history {
	t.Helper()
	var h history
	stdout, stderr, err := p.run(t.Context(), "explain", task)
	if err == nil {
		err = json.Unmarshal(stdout, &h)
	}
	if err != nil {
		t.Fatalf("explain %s: %v: %s", task, err, stderr)
	}
	return h
}

// wantSound fails unless the ledger is valid and every decision matches its policy. It
// returns the number of events of its tasks.
func (p *program) wantSound(t *testing.T) int64 {
	t.Helper()
	var report struct {
		Heads []struct {
			Task string `json:"task"`
			N    int64  `json:"n"`
		} `json:"heads"`
	}
	stdout, stderr, err := p.run(t.Context(), "ledger", "verify", "--decisions")
	if err == nil {
		err = json.Unmarshal(stdout, &report)
	}
	if err != nil {
		t.Fatalf("ledger verify: %v: %s", err, stderr)
	}
	events := int64(0)
	for _, head := range report.Heads {
		if !strings.HasPrefix(head.Task, "_") {
			events += head.N
		}
	}
	return events
}

// wantRecorded fails unless every acknowledged decision is in the ledger.
func (p *program) wantRecorded(t *testing.T, all []acknowledged) {
	t.Helper()
	histories := make(map[string]history)
	for _, a := range all {
		h, ok := histories[a.TaskID]
		if !ok {
			h = p.history(t, a.TaskID)
			histories[a.TaskID] = h
		}
		if a.Event.N < 1 || a.Event.N > int64(len(h.History)) {
			t.Errorf("event %d of %s was acknowledged and is lost", a.Event.N, a.TaskID)
			continue
		}
		if got := h.History[a.Event.N-1]; got.Event.Hash != a.Event.Hash || got.Round != a.Round || got.NextRound != a.NextRound {
			t.Errorf("event %d of %s was acknowledged as %+v and is %+v", a.Event.N, a.TaskID, a, got)
		}
	}
}

// together runs work in as many goroutines as there are processes and returns all
// acknowledged decisions.
func together(t *testing.T, work func(i int) ([]acknowledged, error)) []acknowledged {
	t.Helper()
	var mu sync.Mutex
	var all []acknowledged
	var wg sync.WaitGroup
	for i := range processes {
		wg.Go(func() {
			mine, err := work(i)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, mine...)
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	return all
}

func TestManyProcessesManyTasks(t *testing.T) {
	t.Parallel()
	const rounds = 2
	p := newProgram(t)
	all := together(t, func(i int) (mine []acknowledged, err error) {
		for round := range rounds {
			a, retry, err := p.round(t.Context(), fmt.Sprint("task-", i), p.style)
			if err != nil || retry {
				return mine, fmt.Errorf("nobody else works on task %d: retry %v, %w", i, retry, err)
			}
			if a.Round != round+1 {
				return mine, fmt.Errorf("task %d decided round %d, not %d", i, a.Round, round+1)
			}
			mine = append(mine, a)
		}
		return mine, nil
	})
	p.wantRecorded(t, all)
	if events := p.wantSound(t); len(all) < processes || events != int64(len(all)) {
		t.Errorf("%d decisions were acknowledged and %d recorded", len(all), events)
	}
}

func TestManyProcessesOneTask(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	p.allowRepeats(t)
	reports := []string{p.style, p.plan} // the second keeps the round
	all := together(t, func(i int) ([]acknowledged, error) {
		for {
			a, retry, err := p.round(t.Context(), "task", reports[i%len(reports)])
			if err != nil {
				return nil, err
			}
			if !retry {
				return []acknowledged{a}, nil
			}
		}
	})
	p.wantRecorded(t, all)
	if events := p.wantSound(t); len(all) != processes || events != processes {
		t.Errorf("%d decisions were acknowledged and %d recorded", len(all), events)
	}
	if h := p.history(t, "task"); h.Task.Round != 1+processes/2 {
		t.Errorf("after %d rounds for the executor the task is in round %d", processes/2, h.Task.Round)
	}
}

// TestKilledProcesses kills the program at random moments of a round. The task is then
// either as before or as after the round.
func TestKilledProcesses(t *testing.T) {
	t.Parallel()
	const kills = 8
	p := newProgram(t)
	p.allowRepeats(t)
	began := time.Now()
	first, _, err := p.round(t.Context(), "probe", p.style)
	if err != nil {
		t.Fatal(err)
	}
	span := time.Since(began) // of an undisturbed round, roughly
	all := []acknowledged{first}
	recorded, died, total := p.wantSound(t), 0, 1
	for i := 0; died < kills || total < 2; i++ {
		if i%10 == 5 { // Sometimes the kill may hit the ledger's creation.
			p.wantRecorded(t, all)
			if err := os.RemoveAll(filepath.Join(p.dir, ".switchyard")); err != nil {
				t.Fatal(err)
			}
			recorded, all = 0, nil
		}
		cmd := p.command(t.Context(), "round", "task", "--max-rounds", "100", "--report", p.style)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(rand.N(span * 3 / 2))
		_ = cmd.Process.Kill() // It may have ended.
		err := cmd.Wait()
		if stderr.Len() > 0 {
			t.Fatalf("a round fails: %s", stderr.Bytes())
		}
		// The load of the machine may have differed in the first round.
		if err == nil {
			span = span*3/4 + 1
		} else {
			died++
			span = span * 9 / 8
		}

		after := p.wantSound(t)
		switch {
		case err == nil && after != recorded+1:
			t.Fatalf("a round succeeded and %d events became %d", recorded, after)
		case after != recorded && after != recorded+1:
			t.Fatalf("a killed round made %d events of %d", after, recorded)
		}
		total += int(after - recorded)
		recorded = after
		// A result that was printed completely was acknowledged, even if the process
		// was killed right after it.
		var a acknowledged
		if json.Unmarshal(stdout.Bytes(), &a) == nil && a.Event.Hash != "" {
			all = append(all, a)
		}
	}
	p.wantRecorded(t, all)
	t.Logf("%d processes died, %d decisions were recorded", died, total)

	// The next command finds nothing in its way.
	if _, retry, err := p.round(t.Context(), "next", p.style); err != nil || retry {
		t.Errorf("a round after all the kills: retry %v, %v", retry, err)
	}
}

// TestBusyLedger holds the ledger's lock for longer than a command waits for it, which
// is ten seconds.
func TestBusyLedger(t *testing.T) {
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
	stdout, stderr, err := p.run(t.Context(), "round", "task", "--report", p.style)
	if code := codeOf(stderr); code != "ledger-busy" || len(stdout) > 0 {
		t.Errorf("got %v, %q and %s", err, code, stdout)
	}
	if _, ok := errors.AsType[*exec.ExitError](err); !ok {
		t.Errorf("got %v, want an exit status", err)
	}
	if strings.Contains(string(stderr), "internal") {
		t.Errorf("the error is %s", stderr)
	}
	// A writer does not block readers.
	if h := p.history(t, "task"); len(h.History) != 1 {
		t.Errorf("%d decisions are recorded", len(h.History))
	}
	if _, err := db.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if a, _, err := p.round(t.Context(), "task", p.style); err != nil || a.Round != 2 {
		t.Errorf("once the lock is gone: round %d, %v", a.Round, err)
	}
}

// openDatabase opens a connection to a ledger without the program.
func openDatabase(t *testing.T, path string) *sql.Conn {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}
