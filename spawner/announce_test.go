package spawner_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/agent/lease"
	"github.com/switchyard-dev/switchyard/spawner"
)

// TestAnnouncedFirst tests that the lease record, whenever the spawner is killed, names
// the existing processes and files and those that come next.
func TestAnnouncedFirst(t *testing.T) {
	s := newScene(t, fakeagent.Clean())
	job := s.job(t)
	var runs []lease.Record
	look := func(at spawner.Attempt) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(s.State, "run", "slot.critic.0.json"))
		if err != nil {
			t.Fatal(err)
		}
		var r lease.Record
		if err := json.Unmarshal(text, &r); err != nil {
			t.Fatal(err)
		}
		if r.Run != at.Run || r.Task != "T" || r.Process.Folder != filepath.Dir(filepath.Dir(at.ReportPath)) {
			t.Errorf("the record of %+v is %+v", at, r)
		}
		runs = append(runs, r)
	}
	prompt, begin, end := job.Prompt, job.Begin, job.End
	job.Prompt = func(at spawner.Attempt) (string, error) {
		look(at)
		return prompt(at)
	}
	job.Begin = func(ctx context.Context, at spawner.Attempt) error {
		look(at)
		return begin(ctx, at)
	}
	job.End = func(ctx context.Context, res spawner.Result) error {
		look(res.Attempt)
		return end(ctx, res)
	}
	if out, err := s.run(t, job); err != nil || !out.Last().Verdict.Good() {
		t.Fatal(out, err)
	}
	if len(runs) != 3 || runs[0] != runs[1] || runs[0].Process.PID != 0 || runs[2].Process.PID == 0 {
		t.Fatalf("records: %+v", runs)
	}
	if announced, started := runs[0].Process, runs[2].Process; announced.EnvMarker != started.EnvMarker || announced.Folder != started.Folder {
		t.Errorf("%+v became %+v", announced, started)
	}
}
