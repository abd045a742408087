//go:build unix

package supervise_test

import (
	"os/exec"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/supervise"
)

// The difference between these two benchmarks is the cost of supervision.

func BenchmarkBareExec(b *testing.B) {
	s := newScene(b)
	for b.Loop() {
		cmd := exec.Command("true")
		cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, s.output, s.output
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	s := newScene(b)
	spec := s.spec("")
	spec.Argv = []string{"true"}
	spec.Started = func(supervise.Identity) error { return nil }
	for b.Loop() {
		if r, err := s.keeper.Run(b.Context(), spec); err != nil || r.ExitCode != 0 {
			b.Fatal(r, err)
		}
	}
}

// BenchmarkRunWithAnother runs a child while another one runs: then only a scan of all
// processes can tell that none is left.
func BenchmarkRunWithAnother(b *testing.B) {
	other := newScene(b)
	started, done := make(chan struct{}), make(chan error, 1)
	spec := other.spec("until [ -e go ]; do sleep 0.05; done")
	spec.Timeout = time.Minute
	spec.Started = func(supervise.Identity) error {
		close(started)
		return nil
	}
	go func() {
		_, err := other.keeper.Run(b.Context(), spec)
		done <- err
	}()
	<-started
	BenchmarkRun(b)
	other.file("go", "")
	if err := <-done; err != nil {
		b.Error(err)
	}
}
