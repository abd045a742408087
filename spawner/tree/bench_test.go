//go:build unix

package tree_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/switchyard-dev/switchyard/spawner/tree"
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
				s.commit()
			}
			for b.Loop() {
				if _, err := tree.Take(b.Context(), s.keeper, s.dir); err != nil {
					b.Fatal(err)
				}
			}
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
		if err := tree.Diff(b.Context(), s.keeper, s.dir, "", out, 1<<20); err != nil {
			b.Fatal(err)
		}
	}
}
