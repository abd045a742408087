package oracle_test

import (
	"fmt"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/metrics/oracle"
)

// BenchmarkRecount counts rounds of as many findings as a usual one has.
func BenchmarkRecount(b *testing.B) {
	h := newHistory()
	for i := range 1000 {
		h.add(0, fmt.Sprint("T", i%100), "round-decided", `{"event": {"round": 1, "next_round": 1, "next_action": "executor", "kind": "agent", "reviewed": true, "verify": "green"},
			"decision": {"next_action": "executor", "policy": {"version": "1.0.0", "digest": "d", "adr": "a"}, "findings": [
				{"category": "style", "severity": "risk", "route": "executor"}, {"category": "scope-creep", "severity": "nit", "route": "executor"}
			], "input": {"new_count": 2}}, "timing": {"policy_us": 150, "plugins": [{"plugin": "critic", "us": 900}]}}`)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := oracle.Of(b.Context(), h.each, int64(len(h.events)), nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(h.events)), "ns/event")
}
