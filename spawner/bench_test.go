package spawner_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/spawner"
)

// BenchmarkOverhead measures the cost of a spawn beyond its program: the same fake
// agent runs bare, with its streams in files, and spawned, in turns, so that both share
// the load of the machine. It reports the minimum of each, which is the time on an idle
// machine, and the allocations of a spawn.
//
// Without git the spawner reads the working tree itself; with git, two snapshots run
// git several times, which costs more than all the rest. If the tree is known and the agent
// is confined, no snapshot is needed.
func BenchmarkOverhead(b *testing.B) {
	for _, c := range []struct {
		name  string
		files int
		git   bool
		agent string
		level confinement.Level
		known bool
	}{
		{"plain-1", 1, false, "clean", confinement.None, false},
		{"plain-1-files", 1, false, "clean", confinement.Files, false},
		{"plain-1-network", 1, false, "clean", confinement.Network, false},
		{"plain-1000", 1000, false, "clean", confinement.None, false},
		{"git-1", 1, true, "clean", confinement.None, false},
		{"git-1-network", 1, true, "clean", confinement.Network, false},
		{"git-10000", 10_000, true, "clean", confinement.None, false},
		{"git-10000-network", 10_000, true, "clean", confinement.Network, false},
		{"git-10000-known-ports", 10_000, true, "clean", confinement.Ports, true},
		{"git-10000-known-network", 10_000, true, "clean", confinement.Network, true},
		{"git-10000-edits", 10_000, true, "executor", confinement.None, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := newScene(b, play(c.agent))
			s.Confine.Want = confinement.Want{Level: c.level, Required: c.level != confinement.None}
			fill(b, s.Root, c.files)
			if c.git {
				commit(b, s.Root)
			}
			job := s.job(b)
			if c.agent == "executor" {
				job = s.edits(b)
			}
			bare, ours := newBare(b, s, job), s.spawner(b)
			var alone, spawned []time.Duration
			var before, after runtime.MemStats
			allocated := uint64(0)
			for b.Loop() {
				alone = append(alone, bare.run(b))
				runtime.ReadMemStats(&before)
				began := time.Now()
				out, err := ours.Run(b.Context(), job)
				spawned = append(spawned, time.Since(began))
				runtime.ReadMemStats(&after)
				allocated += after.TotalAlloc - before.TotalAlloc
				if err != nil || !out.Last().Verdict.Good() {
					b.Fatal(out.Results, err)
				}
				if c.known {
					job.Tree = out.Last().After
				}
			}
			milliseconds := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
			b.ReportMetric(milliseconds(slices.Min(alone)), "bare-ms")
			b.ReportMetric(milliseconds(slices.Min(spawned)), "spawn-ms")
			b.ReportMetric(milliseconds(slices.Min(spawned)-slices.Min(alone)), "overhead-ms")
			b.ReportMetric(float64(allocated)/float64(len(spawned))/(1<<20), "MiB/spawn")
			b.ReportMetric(0, "ns/op") // The total time means nothing.
		})
	}
}

// bare runs the program of a scene's agent without a spawner.
type bare struct {
	dir, prompt string
	env         []string
	argv        []string
}

// newBare copies the program's command line from one spawn.
func newBare(b *testing.B, s *scene, job spawner.Job) bare {
	b.Helper()
	if _, err := s.run(b, job); err != nil {
		b.Fatal(err)
	}
	call := s.calls(b)[0]
	dir := b.TempDir()
	prompt := filepath.Join(dir, "prompt")
	if err := os.WriteFile(prompt, append(call.Stdin, "report_path: "+filepath.Join(dir, "report.json")+"\n"...), 0o600); err != nil {
		b.Fatal(err)
	}
	return bare{dir: dir, prompt: prompt, env: call.Env, argv: call.Argv}
}

func (r bare) run(b *testing.B) time.Duration {
	b.Helper()
	began := time.Now()
	cmd := exec.Command(r.argv[0], r.argv[1:]...)
	cmd.Dir, cmd.Env = r.dir, r.env
	in, err := os.Open(r.prompt)
	if err != nil {
		b.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(filepath.Join(r.dir, "stdout"))
	if err != nil {
		b.Fatal(err)
	}
	defer out.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, out
	if err := cmd.Run(); err != nil {
		b.Fatal(err)
	}
	return time.Since(began)
}

// fill creates small files.
func fill(b *testing.B, root string, files int) {
	b.Helper()
	for i := range files {
		dir := filepath.Join(root, "src", string(rune('a'+i%26)))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			b.Fatal(err)
		}
		f, err := os.CreateTemp(dir, "*.go")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := f.Write(make([]byte, 4<<10)); err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// commit makes the directory a repository with all its files committed.
func commit(b *testing.B, root string) {
	b.Helper()
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "all"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Skipf("skipped: git %v: %v: %s", args, err, out)
		}
	}
}
