package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// turns is how often programs that are compared run.
const turns = 40

// bench has the directories of the measured programs and reports, and the one in which programs
// run.
type bench struct{ dir, bin, reports string }

// project makes a project for the ledger of a measurement.
func (b bench) project(name string) (string, error) {
	dir := filepath.Join(b.dir, name)
	return dir, errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "switchyard.yaml"), nil, 0o600))
}

// program is a process to measure. %d in args is the number of the turn.
type program struct {
	name, dir, path string
	args            []string
	input           string // a file
}

// figures are the measurements of a process.
type figures struct {
	times  []time.Duration
	memory int64 // the maximum, in KiB
}

func (f *figures) median() time.Duration {
	slices.Sort(f.times)
	return f.times[len(f.times)/2]
}

// spread is the ratio of the time that three quarters of the runs took to that of one
// quarter.
func (f *figures) spread() float64 {
	slices.Sort(f.times)
	return float64(f.times[len(f.times)*3/4]) / float64(f.times[len(f.times)/4])
}

// inTurn runs programs in turn. The first turn does not count.
func (b bench) inTurn(ctx context.Context, turns int, programs ...program) ([]figures, error) {
	all := make([]figures, len(programs))
	for turn := range turns + 1 {
		for i, p := range programs {
			took, memory, err := b.once(ctx, p, turn)
			if err != nil {
				return nil, err
			}
			if turn > 0 {
				all[i].times = append(all[i].times, took)
				all[i].memory = max(all[i].memory, memory)
			}
		}
	}
	return all, nil
}

// once runs a program. Its output goes to a file, as a script's would.
func (b bench) once(ctx context.Context, p program, turn int) (took time.Duration, memory int64, err error) {
	args := make([]string, len(p.args))
	for i, a := range p.args {
		args[i] = strings.ReplaceAll(a, "%d", strconv.Itoa(turn))
	}
	cmd := exec.CommandContext(ctx, p.path, args...)
	out, err := os.Create(filepath.Join(b.dir, "output"))
	if err != nil {
		return 0, 0, err
	}
	defer out.Close()
	var said bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, out, &said
	if p.input != "" {
		in, err := os.Open(p.input)
		if err != nil {
			return 0, 0, err
		}
		defer in.Close()
		cmd.Stdin = in
	}
	began := time.Now()
	err = cmd.Run()
	took = time.Since(began)
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w: %.500s", p.name, err, said.String())
	}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		memory = usage.Maxrss
	}
	return took, memory, nil
}

// forgetMemory resets the peak memory of this process, which the kernel also counts for its
// children (Linux, man proc_pid_clear_refs).
func forgetMemory() error {
	debug.FreeOSMemory()
	return os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}

// runIn runs a command whose output matters only if it fails.
func runIn(ctx context.Context, dir string, argv ...string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %.500s", argv, err, text)
	}
	return nil
}

// switchyard is a command of the release build.
func (b bench) switchyard(name, dir string, args ...string) program {
	return program{name: name, dir: dir, path: filepath.Join(b.bin, "switchyard"), args: args}
}

// machine describes the machine.
func machine(context.Context) (string, error) {
	model := "unknown processor"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	return fmt.Sprintf("Measured on %s with %d processors (%s), %s/%s, %s.\n", time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), model,
		runtime.GOOS, runtime.GOARCH, runtime.Version()), nil
}
