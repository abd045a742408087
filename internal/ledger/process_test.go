package ledger_test

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/exhaustive"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

const processes = 16

// TestManyProcesses also has all processes create the ledger at once.
func TestManyProcesses(t *testing.T) {
	for _, c := range []struct {
		name  string
		task  func(i int) string
		count int
	}{
		{"creating", func(i int) string { return fmt.Sprint("t", i) }, 1},
		{"a task each", func(i int) string { return fmt.Sprint("t", i) }, 25},
		{"one task", func(int) string { return "t" }, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := state(t)
			var children []*process
			for i := range processes {
				children = append(children, start(t, dir, c.task(i), c.count))
			}
			var acknowledged []ledger.Head
			for _, p := range children {
				heads := p.acknowledged()
				if err := p.Wait(); err != nil {
					t.Errorf("%v: %s", err, p.complaint)
				}
				if len(heads) != 2*c.count {
					t.Errorf("a process acknowledged %d events of %d", len(heads), 2*c.count)
				}
				acknowledged = append(acknowledged, heads...)
			}
			wantRecorded(t, dir, acknowledged)
			if report := wantSound(t, open(t, dir)); report.Events != processes*2*int64(c.count) {
				t.Errorf("the ledger holds %d events", report.Events)
			}
			wantPairs(t, dir, processes*int64(c.count))
			if drafts, err := filepath.Glob(filepath.Join(dir, "*.new-*")); err != nil || len(drafts) != 0 {
				t.Errorf("creation left %v, %v", drafts, err)
			}
		})
	}
}

// wantPairs fails unless the counters are those of this number of pairs.
func wantPairs(t *testing.T, dir string, pairs int64) {
	t.Helper()
	sums, err := open(t, dir).Counters(t.Context(), ledger.CounterQuery{Measure: "kinds"}, ledger.CounterQuery{Measure: "events"},
		ledger.CounterQuery{Measure: "halves"}, ledger.CounterQuery{Measure: ledger.OverflowMeasure})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range slices.Concat(sums.Rows[0], sums.Rows[3]) {
		if row.Sum != pairs {
			t.Errorf("%d of %v after %d pairs", row.Sum, row.Values, pairs)
		}
	}
	var events int64
	for _, row := range sums.Rows[1] {
		events += row.Sum
	}
	if len(sums.Rows[0]) != 2 || len(sums.Rows[3]) != 1 || events != 2*pairs || sums.Events != events || len(sums.Rows[2]) != 0 {
		t.Errorf("after %d pairs the sums are %+v", pairs, sums)
	}
}

// wantRecorded fails unless every acknowledged event is in the ledger.
func wantRecorded(t *testing.T, dir string, acknowledged []ledger.Head) {
	t.Helper()
	recorded := make(map[string]bool)
	for _, e := range collect(t, open(t, dir).EventsSince(t.Context(), 0)) {
		recorded[fmt.Sprint(e.Task, e.N, e.Hash)] = true
	}
	for _, h := range acknowledged {
		if !recorded[fmt.Sprint(h.Task, h.N, h.Hash)] {
			t.Errorf("event %d of %s was acknowledged and is lost", h.N, h.Task)
		}
	}
}

func TestKilledWriters(t *testing.T) {
	kills := exhaustive.Count(5, 50)
	dir := state(t)
	total := 0
	// A busy machine takes longer to start a process: then the kill comes later.
	window := 40 * time.Millisecond
	for i := 0; i < kills || total == 0 && window < time.Minute; i++ {
		if i%10 == 0 { // Sometimes the kill may hit the creation.
			dir = state(t)
		}
		p := start(t, dir, fmt.Sprint("t", i%3), 0)
		time.AfterFunc(rand.N(window), func() { p.Process.Kill() })
		heads := p.acknowledged()
		p.Wait()
		if len(p.complaint) != 0 {
			t.Fatalf("the writer failed: %s", p.complaint)
		}
		total += len(heads)
		if len(heads) > 0 {
			wantRecorded(t, dir, heads)
		} else if total == 0 {
			window *= 2
		}
		for _, head := range wantSound(t, open(t, dir)).Heads {
			if head.N%2 != 0 {
				t.Fatalf("the kill left half a pair: task %s has %d events", head.Task, head.N)
			}
		}
	}
	if total == 0 {
		t.Error("no writer came as far as to acknowledge an event")
	}
	t.Logf("%d events acknowledged before %d kills", total, kills)
}

// TestKilledWhileCounting kills the process that migrates an older ledger: the ledger
// is unchanged, and the next process migrates it.
func TestKilledWhileCounting(t *testing.T) {
	dir := state(t)
	l := open(t, dir)
	for range 8 {
		if _, err := insist(t.Context(), l, "t"); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	edit(t, dir, `DROP TABLE tallies`, `PRAGMA user_version = 1`)

	p := exec.Command(os.Args[0], dir)
	p.Env = append(os.Environ(), roleVar+"=stall")
	stdin, err := p.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || line != "counting\n" {
		t.Errorf("the process said %q, %v", line, err)
	}
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.Wait()

	_, err = openWith(t, dir, nil).Counters(t.Context())
	if !errors.Is(err, ledger.ErrUncounted) {
		t.Errorf("Counters gives %v", err)
	}
	wantSound(t, open(t, dir))
	wantPairs(t, dir, 8)
}

func TestReadersDuringWrites(t *testing.T) {
	dir := state(t)
	p := start(t, dir, "t", 0)
	defer p.Wait()
	defer p.Process.Kill()
	var last int64
	for deadline := time.Now().Add(20 * time.Second); last < 50 && time.Now().Before(deadline); {
		l := open(t, dir)
		sums, err := l.Counters(t.Context(), ledger.CounterQuery{Measure: "events"}, ledger.CounterQuery{Measure: "halves"})
		if err != nil {
			t.Fatal(err)
		}
		// Never half a pair, and never a counter without its events.
		if len(sums.Rows[1]) != 0 || sums.Events != 0 && (len(sums.Rows[0]) != 1 || sums.Rows[0][0].Sum != sums.Events) {
			t.Fatalf("a reader saw %+v", sums)
		}
		report := wantSound(t, l)
		if report.Events < last {
			t.Fatalf("a reader saw %d events after %d", report.Events, last)
		}
		last = report.Events
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if os.Getpid() == p.Process.Pid {
			t.Fatal("the writer is not a process of its own")
		}
	}
	if last == 0 {
		t.Error("the readers saw nothing")
	}
}

func TestOneLedgerInManyGoroutines(t *testing.T) {
	dir := state(t)
	l := open(t, dir)
	done := make(chan error)
	for i := range 8 {
		go func() {
			for range 10 {
				if _, err := insist(t.Context(), l, fmt.Sprint("t", i%2)); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if report := wantSound(t, l); report.Events != 160 {
		t.Errorf("the ledger holds %d events", report.Events)
	}
}
