package fakeagent

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"
)

// The environment variables of the program.
const (
	// ScenarioVariable names the script.
	ScenarioVariable = "SWITCHYARD_FAKE_SCENARIO"
	// The others are set for every agent.
	roleVariable   = "SWITCHYARD_ROLE"
	taskVariable   = "SWITCHYARD_TASK"
	roundVariable  = "SWITCHYARD_ROUND"
	runVariable    = "SWITCHYARD_RUN"
	reportVariable = "SWITCHYARD_REPORT"
)

const brokenScript = 70

// forever bounds the time that a call hangs, so that a failed test does not leave it running
// for long.
const forever = 10 * time.Minute

// Main runs the program. It returns the exit code.
func Main() (code int) {
	if len(os.Args) > 1 && os.Args[1] == childFlag {
		return beChild(os.Args[2:])
	}
	path, err := scriptPath()
	if err != nil {
		return complain(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return complain(err)
	}
	script, err := parse(data)
	if err != nil {
		return complain(fmt.Errorf("%s: %w", filepath.Base(path), err))
	}
	switch args := os.Args[1:]; {
	case slices.Equal(args, []string{"--version"}):
		fmt.Println(cmp.Or(script.Version, "0.0.0 (fake agent)"))
		return 0
	case slices.Contains(args, "--help"):
		fmt.Println(cmp.Or(script.Help, "A fake agent."))
		return 0
	}
	p, err := newPlayer(script, path)
	if err != nil {
		return complain(err)
	}
	return p.play()
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, "fakeagent:", err)
	return brokenScript
}

func scriptPath() (string, error) {
	if path := os.Getenv(ScenarioVariable); path != "" {
		return filepath.Abs(path)
	}
	// Not os.Executable: a symbolic link to the program has its own script beside it.
	self, err := exec.LookPath(os.Args[0])
	if err != nil {
		return "", err
	}
	self, err = filepath.Abs(self)
	return self + ".json", err
}

// player runs the scenario of one call.
type player struct {
	scenario *Scenario
	// calls is the directory of all calls, and folder the one of this call.
	calls, folder string
	number        int
	out           *cliOutput

	// mu is held during a write or a change of the fields, so that a signal's handler writes
	// after whole lines.
	mu                 sync.Mutex
	brief              Brief
	reportPath, status string
	blockers           int
	code               int
}

func newPlayer(script *Script, path string) (*player, error) {
	p := &player{calls: path + callsSuffix, status: "passed", brief: Brief{}.or(os.Getenv)}
	var err error
	if p.number, p.folder, err = claim(p.calls); err != nil {
		return nil, err
	}
	if p.scenario, err = script.scenario(os.Getenv(roleVariable), p.brief.Round, p.number); err != nil {
		return nil, err
	}
	p.out, err = newCLIOutput(p.scenario, cmp.Or(p.scenario.Session, fmt.Sprintf("fake-session-%d", p.number)), os.Args[1:])
	return p, err
}

func (p *player) play() int {
	p.handleTerm()
	dir, err := os.Getwd()
	if err != nil {
		return complain(err)
	}
	if err := (Call{Number: p.number, Argv: os.Args, Dir: dir, Env: os.Environ(), PID: os.Getpid()}).record(p.folder); err != nil {
		return complain(err)
	}
	for i, step := range p.scenario.Steps {
		if step.Exit != nil {
			return *step.Exit
		}
		if err := p.take(step); err != nil {
			return complain(fmt.Errorf("call %d, step %d: %w", p.number, i+1, err))
		}
	}
	return p.code
}

func (p *player) handleTerm() {
	if p.scenario.Term == "" {
		return
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM)
	go func() {
		for s := range signals {
			p.mu.Lock()
			note(p.folder, s)
			switch p.scenario.Term {
			case "exit":
				os.Exit(0)
			case "result":
				_ = p.final(&Final{})
				os.Exit(0)
			}
			p.mu.Unlock()
		}
	}()
}

// note records a signal. If this fails, the test does not find the signal.
func note(folder string, s os.Signal) {
	if f, err := os.OpenFile(filepath.Join(folder, signalsFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
		fmt.Fprintln(f, s)
		f.Close()
	}
}
