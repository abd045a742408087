package egress_test

import (
	"io"
	"runtime"
	"testing"
	"time"
)

// BenchmarkTunnel sends a megabyte through a tunnel and gets it back.
func BenchmarkTunnel(b *testing.B) {
	n := start(b, echo)
	c := n.tunnel(b)
	_ = c.SetDeadline(time.Time{})
	text := make([]byte, 1<<20)
	b.SetBytes(int64(len(text)))
	b.ResetTimer()
	go func() {
		for range b.N {
			if _, err := c.Write(text); err != nil {
				return
			}
		}
	}()
	if _, err := io.CopyN(io.Discard, c, int64(b.N)<<20); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkHundredConnections reports the memory of 100 tunnels through which a megabyte
// has passed, with their clients and servers.
func BenchmarkHundredConnections(b *testing.B) {
	n := start(b, echo)
	text := make([]byte, 64<<10)
	for range b.N {
		var open []io.Closer
		for range 100 {
			c := n.tunnel(b)
			open = append(open, c)
			for range 16 {
				if _, err := c.Write(text); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(c, text); err != nil {
					b.Fatal(err)
				}
			}
		}
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		b.ReportMetric(float64(memory.HeapInuse+memory.StackInuse)/(1<<20), "MiB")
		for _, c := range open {
			_ = c.Close()
		}
	}
}
