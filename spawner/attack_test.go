//go:build unix

package spawner_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
)

// TestOutputLargerThanAnyDisk tests a sparse output file: an agent can make it very
// large without writing anything. The spawner must not read all of it.
func TestOutputLargerThanAnyDisk(t *testing.T) {
	t.Parallel()
	const readable = 128 << 20
	s := newScene(t, fakeagent.Scenario{Steps: []fakeagent.Step{
		{Run: &fakeagent.Run{Argv: []string{"sh", "-c", `truncate -s 4T "$TMPDIR/../stdout"`}}}, {Final: &fakeagent.Final{}},
	}})
	out, err := s.run(t, s.job(t))
	if err != nil || len(out.Results) != 1 {
		t.Fatalf("%d attempts, %v", len(out.Results), err)
	}
	if r := out.Last(); r.Verdict.Reason != outcome.ReasonOutputLimit || r.Record.ResponseBytes > readable {
		t.Errorf("%+v, %d bytes", r.Verdict, r.Record.ResponseBytes)
	}
}
