package spawner

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestLinesOfManyWriters checks that a line that is being written is not taken for one that
// was cut off, which would make the next one begin with an empty line.
func TestLinesOfManyWriters(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	const writers, each = 8, 50
	line := []byte(strings.Repeat("x", maxLine-2) + "\n")
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for range each {
				if err := appendLine(t.Context(), state, line); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	got, err := os.ReadFile(filepath.Join(state, RunLogFile))
	if err != nil || !bytes.Equal(got, bytes.Repeat(line, writers*each)) {
		t.Errorf("%d bytes in %d lines, %v", len(got), bytes.Count(got, []byte("\n")), err)
	}
}
