package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/exhaustive"
	"github.com/switchyard-dev/switchyard/internal/smalldisk"
)

// TestRunOnAFullDisk drives a task on a disk with some free pages. It fails with a code,
// and goes on to one commit when there is room.
func TestRunOnAFullDisk(t *testing.T) {
	sequential(t)
	for _, pages := range exhaustive.Sample([]int{0, 1, 2, 4, 8, 16, 24, 32, 48, 64, 80, 96}, 5) {
		t.Run(fmt.Sprint(pages), func(t *testing.T) {
			disk := smalldisk.New(t, "8m")
			s := runSiteIn(t, disk, once, twoRounds())
			filler := filepath.Join(disk, "filler")
			smalldisk.Fill(t, filler, pages)
			cmd := s.child(t, child{Base: "main"})
			var said strings.Builder
			cmd.Stderr = &said
			if err := cmd.Run(); err == nil {
				t.Logf("%d pages are enough", pages)
			} else if text := said.String(); !strings.HasPrefix(text, "failed") || strings.Contains(text, "internal") || strings.Contains(text, "panic") {
				t.Errorf("with %d pages it ends with %s", pages, text)
			} else {
				t.Logf("with %d pages it ends with %.200s", pages, text)
			}
			if err := os.Remove(filler); err != nil {
				t.Fatal(err)
			}
			again := s.child(t, child{Base: "main"})
			said.Reset()
			again.Stderr = &said
			if err := again.Run(); err != nil {
				t.Fatalf("with room it ends with %s, %v", said.String(), err)
			}
			if n := strings.Count(s.git(t, "rev-list", "main..switchyard/T")+"\n", "\n"); n != 1 {
				t.Errorf("the branch has %d commits", n)
			}
		})
	}
}
