package host_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"testing"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// TestVerificationsDoNotNest checks that a process started by a project's verification
// cannot verify or change a task of that project, while one of another project may.
func TestVerificationsDoNotNest(t *testing.T) {
	root, other := t.TempDir(), t.TempDir()
	environ := append(os.Environ(), fmt.Sprintf("SWITCHYARD_VERIFYING=,sha256:%x", sha256.Sum256([]byte(root))))
	newEngine := func(root string) *host.Engine {
		e := host.New(host.Options{Project: project.Project{Root: root, Dir: root}, Now: noon, By: "tester", Environ: environ})
		t.Cleanup(func() { _ = e.Close(context.Background()) })
		return e
	}
	req := request(clean)
	req.Verify = host.VerifyRequest{Command: "exit 0"}
	if _, err := newEngine(root).Round(t.Context(), "T", req); errs.CodeOf(err) != errs.VerifyNested {
		t.Errorf("a round within a verification: %v", err)
	}
	draft := api.DraftRequest{Verify: req.Verify, Force: &task.Force{Reason: "a test", By: "somebody"}}
	if _, err := newEngine(root).Draft(t.Context(), "T", draft); errs.CodeOf(err) != errs.VerifyNested {
		t.Errorf("a draft within a verification: %v", err)
	}
	if tasks, err := newEngine(root).Tasks(t.Context()); err != nil || len(tasks) != 0 {
		t.Errorf("%d tasks are recorded, %v", len(tasks), err)
	}
	req = request(clean)
	req.Verify = host.VerifyRequest{Command: "exit 0"}
	if d, err := newEngine(other).Round(t.Context(), "T", req); err != nil || d.NextAction != "commit" {
		t.Errorf("a round of another project: %s, %v", d.NextAction, err)
	}
}
