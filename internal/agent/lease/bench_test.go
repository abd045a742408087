//go:build unix

package lease_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A spawn writes two records: one before its process is there, which need not reach
// the disk, and one after.
func BenchmarkRecords(b *testing.B) {
	s := newScene(b)
	held := s.take("critic", 1)
	for name, recorded := range map[string]bool{"announced": false, "and recorded": true} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := os.Remove(filepath.Join(s.dir, "slot.critic.0.json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
					b.Fatal(err)
				}
				if err := held.Record(record(0, "r1")); err != nil {
					b.Fatal(err)
				}
				if !recorded {
					continue
				}
				if err := held.Record(record(4711, "r1")); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
