package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// deadline is how long a test waits for something before it fails.
const deadline = 10 * time.Minute

// process is a running process of a fleet. It ends with the test.
type process struct {
	t    testing.TB
	name string
	cmd  *exec.Cmd
	// log is the file with the output of all processes of its name. Its own output begins at
	// from.
	log  string
	from int64
	// ended is closed once the process has ended.
	ended chan struct{}
}

// start starts a process in the project and appends its output to the log of its name.
func (f *fleet) start(name, program string, args ...string) *process {
	f.Helper()
	p := &process{t: f, name: name, log: f.path(name + ".log"), ended: make(chan struct{})}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		f.Fatal(err)
	}
	defer log.Close()
	if info, err := log.Stat(); err == nil {
		p.from = info.Size()
	}
	p.cmd = exec.Command(program, args...)
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = f.path(project), f.environ(), log, log
	if err := p.cmd.Start(); err != nil {
		f.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // ProcessState has the exit code.
		close(p.ended)
	}()
	f.Cleanup(func() {
		// A process that is stopped can end its agents. If it does not stop, it is killed.
		p.signal(syscall.SIGTERM)
		select {
		case <-p.ended:
		case <-time.After(10 * time.Second):
			p.kill()
		}
		if f.Failed() {
			f.Logf("%s:\n%s", name, p.tail())
		}
	})
	return p
}

func (p *process) signal(s os.Signal) { _ = p.cmd.Process.Signal(s) } // It may have ended.

// kill kills the process with SIGKILL.
func (p *process) kill() {
	p.signal(os.Kill)
	<-p.ended
}

// stop sends SIGTERM and returns the exit code.
func (p *process) stop() int {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
	return p.wait()
}

// wait returns the exit code of the process.
func (p *process) wait() int {
	p.t.Helper()
	until(p.t, p.name+" ends", p.hasEnded)
	return p.cmd.ProcessState.ExitCode()
}

func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// ready waits until the process has said so.
func (p *process) ready() *process {
	p.t.Helper()
	until(p.t, p.name+" is ready", func() bool { return p.hasEnded() || strings.Contains(p.output(), "switchyard-fleet: ready") })
	if p.hasEnded() {
		p.t.Fatalf("%s has ended", p.name)
	}
	return p
}

func (p *process) output() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		p.t.Error(err)
	}
	return string(text[p.from:])
}

// tail returns the end of the log.
func (p *process) tail() string {
	text := p.output()
	return text[max(0, len(text)-4000):]
}

// until waits until a condition holds.
func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(deadline); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", deadline, what)
		}
	}
}

// exists says whether a process runs.
func exists(pid int) bool { return syscall.Kill(pid, 0) == nil }

// path returns the path of a file of the fleet.
func (f *fleet) path(name string) string { return filepath.Join(f.dir, name) }
