package handoff_test

import (
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/host/internal/core"
	"github.com/switchyard-dev/switchyard/host/internal/handoff"
	"github.com/switchyard-dev/switchyard/host/internal/record"
	"github.com/switchyard-dev/switchyard/host/internal/tasktx"
	"github.com/switchyard-dev/switchyard/internal/agent/prompt"
	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// TestLostAdvice checks that an agent whose report is gone or changed gives no advice, and not
// an empty one.
func TestLostAdvice(t *testing.T) {
	root := t.TempDir()
	p := core.New(core.Options{Project: project.Project{Root: root, Dir: root}, Now: time.Now})
	t.Cleanup(func() { _ = p.Close(t.Context()) })
	l, err := p.OpenLedger(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	tx := &tasktx.Tx{Project: p, Task: record.Task{Ledger: l, ID: "T"}}
	const advice = "Use a prepared statement."
	path, err := p.WriteStateFile("reports", "a.json", []byte(advice))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []task.Receipt{
		{Path: path, Report: digest.Of(advice)}, {Path: path, Report: digest.Of("It was changed.")}, {Path: path + ".gone", Report: digest.Of(advice)},
	} {
		tx.Status.Runs = append(tx.Status.Runs, task.Run{Intent: task.Intent{Role: "security"}, Receipt: &r})
	}
	h, _, err := handoff.Latest(t.Context(), tx, project.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []prompt.Advice{{Role: "security", Text: advice}}; !slices.Equal(h.Advice, want) {
		t.Errorf("got advice %q, want %q", h.Advice, want)
	}
}
