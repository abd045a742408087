package ledger_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/host/ledger"
)

const processes = 16

// Every run of these also has all processes create the ledger at once.
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
			if drafts, err := filepath.Glob(filepath.Join(dir, "*.new-*")); err != nil || len(drafts) != 0 {
				t.Errorf("creation left %v, %v", drafts, err)
			}
		})
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
	kills := 50
	if testing.Short() {
		kills = 5
	}
	dir := state(t)
	total := 0
	// A busy machine takes longer to start a process: then the kill comes later.
	window := 40 * time.Millisecond
	for i := 0; i < kills || total == 0 && window < time.Minute; i++ {
		if i%10 == 0 { // now and then the kill may meet the creation
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

func TestReadersDuringWrites(t *testing.T) {
	dir := state(t)
	p := start(t, dir, "t", 0)
	defer p.Wait()
	defer p.Process.Kill()
	var last int64
	for deadline := time.Now().Add(20 * time.Second); last < 50 && time.Now().Before(deadline); {
		l := open(t, dir)
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
