//go:build unix

package spawner_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
)

// TestEndsWithUnreadOutput: an output that takes long to read is too large, or its agent is
// cancelled, before all of it is read.
func TestEndsWithUnreadOutput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		bytes  int
		reason outcome.Reason
	}{{68 << 20, outcome.ReasonOutputLimit}, {40 << 20, outcome.ReasonCancelled}} {
		t.Run(string(c.reason), func(t *testing.T) {
			t.Parallel()
			s := newScene(t, fakeagent.Scenario{Steps: []fakeagent.Step{
				{Run: &fakeagent.Run{Argv: []string{"sh", "-c", fmt.Sprintf(`yes '{}' | head -c %d >"$TMPDIR/../stdout"`, c.bytes)}}}, {Hang: true},
			}})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if c.reason == outcome.ReasonCancelled {
				time.AfterFunc(time.Second, cancel)
			}
			out, err := s.spawner(t).Run(ctx, s.job(t))
			if cancelled := c.reason == outcome.ReasonCancelled; errors.Is(err, context.Canceled) != cancelled || len(out.Results) != 1 || out.Last().Verdict.Reason != c.reason {
				t.Errorf("%+v, %v", out.Results, err)
			}
		})
	}
}
