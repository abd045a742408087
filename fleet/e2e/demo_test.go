package e2e_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
)

// TestDemo runs the script of make fleet-demo.
func TestDemo(t *testing.T) {
	t.Parallel()
	if os.Getenv(temporalVariable) == "" {
		t.Skip(temporalVariable + " is not set: there is no Temporal server to test with")
	}
	const root = "../../"
	cmd := exec.CommandContext(t.Context(), "sh", root+"scripts/fleet-demo.sh", program("switchyard-fleet"), program("switchyard"), fakeagent.Build(t), os.Getenv(temporalVariable), root+"testdata")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // It ends its processes then.
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_, end, _ := strings.Cut(string(out), "log --oneline")
	for _, want := range []string{
		"Note the change of plain-1\n", "Note the change of plain-2\n", "Note the change of plain-3\n", "Note the change of two-1\n", "Note the change of ask-1\n",
		"ledger verify\nintact",
	} {
		if strings.Count(end, want) != 1 {
			t.Errorf("the end does not say %q once:\n%s", want, out)
		}
	}
}
