package host_test

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// TestVerificationsDoNotNest: what a project's verification starts verifies nothing
// of that project, whatever the task, and changes nothing; that of another project
// may.
func TestVerificationsDoNotNest(t *testing.T) {
	root, other := t.TempDir(), t.TempDir()
	t.Setenv("SWITCHYARD_VERIFYING", fmt.Sprintf(",sha256:%x", sha256.Sum256([]byte(root))))
	req := request(clean)
	req.Verify = host.VerifyRequest{Command: "exit 0"}
	if _, err := newEngine(t, root, noon).Round(t.Context(), "T", req); errs.CodeOf(err) != errs.VerifyNested {
		t.Errorf("a round within a verification: %v", err)
	}
	draft := host.DraftRequest{Verify: req.Verify, Force: &task.Force{Reason: "a test", By: "somebody"}}
	if _, err := newEngine(t, root, noon).Draft(t.Context(), "T", draft); errs.CodeOf(err) != errs.VerifyNested {
		t.Errorf("a draft within a verification: %v", err)
	}
	if tasks, err := newEngine(t, root, noon).Tasks(t.Context()); err != nil || len(tasks) != 0 {
		t.Errorf("%d tasks are recorded, %v", len(tasks), err)
	}
	req = request(clean)
	req.Verify = host.VerifyRequest{Command: "exit 0"}
	if d, err := newEngine(t, other, noon).Round(t.Context(), "T", req); err != nil || d.NextAction != "commit" {
		t.Errorf("a round of another project: %s, %v", d.NextAction, err)
	}
}
