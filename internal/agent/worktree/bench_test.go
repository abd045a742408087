//go:build unix

package worktree_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
)

// A tree of 10,000 files in 200 folders.
func BenchmarkTake(b *testing.B) {
	for _, kind := range []string{"git", "plain"} {
		b.Run(kind, func(b *testing.B) {
			s := newScene(b)
			for i := range 10_000 {
				name := fmt.Sprintf("folder%03d/sub/file%05d.go", i/50, i)
				s.write(name, fmt.Sprintf("package p%d\n", i))
			}
			if kind == "git" {
				s.init()
				s.git(".", "config", "gc.auto", "0") // It would go on in the background, in our way.
				s.commit()
			}
			least := time.Hour // the time without other load
			for b.Loop() {
				began := time.Now()
				if _, err := s.tree().Snapshot(b.Context(), worktree.Scope{}); err != nil {
					b.Fatal(err)
				}
				least = min(least, time.Since(began))
			}
			b.ReportMetric(float64(least.Microseconds())/1000, "least-ms")
		})
	}
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
