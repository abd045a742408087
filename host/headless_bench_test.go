package host_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
)

// BenchmarkHeadlessRound measures a whole round of a new task with a critic that answers
// at once: intent, spawn, receipt and attestation, plugin, policy, decision.
func BenchmarkHeadlessRound(b *testing.B) {
	s := newSite(b, once, fakeagent.Clean())
	e := s.engine(b, time.Now)
	n := 0
	for b.Loop() {
		n++
		if d, err := e.Round(b.Context(), fmt.Sprintf("T-%d", n), host.Request{}); err != nil || d.NextAction != "commit" {
			b.Fatal(d.NextAction, err)
		}
	}
}
