//go:build unix

package gitrepo_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

// A worktree of 10,000 files in 200 directories.
func BenchmarkWriteTree(b *testing.B) {
	s := newScene(b)
	for i := range 10_000 {
		s.write(filepath.Join(s.dir, fmt.Sprintf("dir%03d/sub/file%05d.go", i/50, i)), fmt.Sprintf("package p%d\n", i))
	}
	s.git(s.dir, "add", "-A")
	s.git(s.dir, "-c", "gc.auto=0", "commit", "-q", "-m", "many files")
	r := s.open()
	w := s.add(r, "T")
	for _, changed := range []int{0, 3} {
		b.Run(fmt.Sprintf("changed=%d", changed), func(b *testing.B) {
			for i := range changed {
				s.write(s.file(w, fmt.Sprintf("dir%03d/sub/file%05d.go", i*50, i*50*50)), "package changed\n")
			}
			least := time.Hour // the time without other load
			for b.Loop() {
				began := time.Now()
				s.tree(r, w)
				least = min(least, time.Since(began))
			}
			b.ReportMetric(float64(least.Microseconds())/1000, "least-ms")
		})
	}
}

func BenchmarkResolve(b *testing.B) {
	s := newScene(b)
	r := s.open()
	for b.Loop() {
		if _, _, err := r.Resolve(b.Context(), "HEAD"); err != nil {
			b.Fatal(err)
		}
	}
}
