package adapter_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
)

// A run may print hundreds of megabytes, most of them in what its tools return.
func BenchmarkReader(b *testing.B) {
	small := []byte(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"` + strings.Repeat("x", 1000) + `"}]},"session_id":"s1"}` + "\n")
	large := []byte(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"` + strings.Repeat("x", 4<<20) + `"}]},"session_id":"s1"}` + "\n")
	for name, output := range map[string][]byte{
		"small events": bytes.Repeat(small, 1000), "large events": large, "no events": bytes.Repeat([]byte("babble "), 1<<17), "blocks": bytes.Repeat([]byte("{\n  x\n"), 1<<17),
	} {
		a := embedded(b, "claude")
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(output)))
			b.ReportAllocs()
			r := a.NewReader()
			for b.Loop() {
				_, _ = r.Write(output)
			}
		})
	}
}

// Each command that spawns reads an adapter or two.
func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := adapter.NewCatalog().Get("claude"); err != nil {
			b.Fatal(err)
		}
	}
}
