//go:build unix

package worktree_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
)

// A tree of 10,000 files in 200 directories.
func BenchmarkTake(b *testing.B) {
	for _, kind := range []string{"git", "plain", "cached"} {
		b.Run(kind, func(b *testing.B) {
			s := newScene(b)
			for i := range 10_000 {
				name := fmt.Sprintf("folder%03d/sub/file%05d.go", i/50, i)
				s.write(name, fmt.Sprintf("package p%d\n", i))
			}
			if kind != "plain" {
				s.init()
				s.git(".", "config", "gc.auto", "0") // It would go on in the background, in our way.
				s.commit()
			}
			tree := s.tree()
			if kind == "cached" {
				tree.Cache = &worktree.Cache{}
				time.Sleep(100 * time.Millisecond) // What is new is read again.
			}
			least := time.Hour // the time without other load
			used := cpuTime(b)
			for b.Loop() {
				began := time.Now()
				if _, err := tree.Snapshot(b.Context(), worktree.Scope{}); err != nil {
					b.Fatal(err)
				}
				least = min(least, time.Since(began))
			}
			b.ReportMetric(float64((cpuTime(b)-used).Microseconds())/1000/float64(b.N), "cpu-ms/op")
			b.ReportMetric(float64(least.Microseconds())/1000, "least-ms")
		})
	}
}

// cpuTime is the processor time of this process and of its children.
func cpuTime(b *testing.B) time.Duration {
	var all time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var r syscall.Rusage
		if err := syscall.Getrusage(who, &r); err != nil {
			b.Fatal(err)
		}
		all += time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	return all
}

func BenchmarkDiff(b *testing.B) {
	s := newScene(b)
	for i := range 1000 {
		s.write(fmt.Sprintf("folder%d/file", i), "x\n")
	}
	s.init()
	s.commit()
	s.write("new", "y\n")
	out, err := os.Create(filepath.Join(b.TempDir(), "out"))
	if err != nil {
		b.Fatal(err)
	}
	defer out.Close()
	for b.Loop() {
		if err := s.tree().Diff(b.Context(), "", out, 1<<20); err != nil {
			b.Fatal(err)
		}
	}
}
