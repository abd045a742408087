package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkStopHook times the Stop hook as a whole process in a git repository of 10,000
// files: without a task, with one that has nothing to fix, and with one that blocks. The
// first two must take at most 100 ms; the last reads all files.
func BenchmarkStopHook(b *testing.B) {
	r := newReleased(b)
	r.write(b, "switchyard.yaml", "max_rounds: 100\n")
	for i := range 10_000 {
		r.write(b, fmt.Sprintf("folder%03d/sub/file%05d.go", i/50, i), fmt.Sprintf("package p%d\n", i))
	}
	for _, args := range []string{"init -q", "config gc.auto 0", "add -A", "-c user.name=a -c user.email=a@example.com commit -q -m first"} {
		r.other(b, "git", strings.Fields(args)...)
	}
	clean := filepath.Join(b.TempDir(), "clean.json")
	if err := os.WriteFile(clean, []byte(`{"critic": "critic", "findings": []}`), 0o644); err != nil {
		b.Fatal(err)
	}
	stop := func(want string) time.Duration {
		cmd := exec.Command(r.binary, "hook", "stop")
		cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id": "s", "cwd": %q, "hook_event_name": "Stop"}`, r.project))
		start := time.Now()
		out, err := cmd.Output()
		took := time.Since(start)
		if err != nil || !strings.Contains(string(out), want) {
			b.Fatalf("%v: %s", err, out)
		}
		return took
	}
	var none, allowed, blocked []time.Duration
	for i := 0; b.Loop(); i++ {
		if err := os.RemoveAll(filepath.Join(r.project, ".switchyard")); err != nil {
			b.Fatal(err)
		}
		none = append(none, stop("{}"))
		r.timed(b, "round", "CLEAN", "--report", clean)
		allowed = append(allowed, stop("{}"))
		r.timed(b, "round", "OPEN", "--report", reportPath(b, "twenty.json"))
		r.write(b, "folder000/sub/file00000.go", fmt.Sprintf("package p%d\n", i))
		blocked = append(blocked, stop("block"))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ms(median(none)), "none-ms")
	b.ReportMetric(ms(median(allowed)), "allow-ms")
	b.ReportMetric(ms(median(blocked)), "block-ms")
}

func (r released) write(b *testing.B, name, text string) {
	b.Helper()
	path := filepath.Join(r.project, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
}
