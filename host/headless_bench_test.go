package host_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
)

// BenchmarkHeadlessRound is a whole round of a new task, its critic included, which
// is a program that has nothing to think about: intent, spawn, receipt and stamp,
// plugin, policy, decision.
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
