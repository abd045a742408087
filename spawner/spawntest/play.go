package spawntest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// The variables that tell the program what to play.
const (
	// ScenarioVariable names the script.
	ScenarioVariable = "SWITCHYARD_FAKE_SCENARIO"
	// CallsVariable names the folder of calls, if it is not that beside the script.
	CallsVariable = "SWITCHYARD_FAKE_CALLS"
	// launchedVariable has the number of a call whose launcher has begun it.
	launchedVariable = "SWITCHYARD_FAKE_LAUNCHED"
)

// brokenScript is the exit code of a script that cannot be played.
const brokenScript = 70

// forever is how long a call hangs at most, so that a failed test does not leave
// it for long.
const forever = 10 * time.Minute

// Play is the whole program. It returns the exit code, or does not return where
// the script says so.
func Play() (code int) {
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
		fmt.Println(or(script.Version, "0.0.0 (fake agent)"))
		return 0
	case slices.Contains(args, "--help"):
		fmt.Println(or(script.Help, "A fake agent."))
		return 0
	}
	p, err := newPlayer(script, path)
	if err != nil {
		return complain(err)
	}
	defer func() {
		if broken, ok := recover().(playError); ok {
			code = complain(broken.error)
		}
	}()
	return p.play()
}

// playError is a panic of ours, from where no error can be returned.
type playError struct{ error }

func complain(err error) int {
	fmt.Fprintln(os.Stderr, "fakeagent:", err)
	return brokenScript
}

// scriptPath is where the script lies, as an absolute path.
func scriptPath() (string, error) {
	if path := os.Getenv(ScenarioVariable); path != "" {
		return filepath.Abs(path)
	}
	// Not os.Executable: a symbolic link to us has a script of its own beside it.
	self, err := exec.LookPath(os.Args[0])
	if err != nil {
		return "", err
	}
	self, err = filepath.Abs(self)
	return self + ".json", err
}

// player plays one call.
type player struct {
	scenario *Scenario
	// base is the script's folder, calls that of all calls and folder this call's.
	base, calls, folder string
	number              int
	voice               voice

	// mu is held while anything is written or learned, so that a signal's handler
	// finds whole lines.
	mu                 sync.Mutex
	brief              Brief
	reportPath, status string
	blockers           int
	code               int
}

func newPlayer(script *Script, path string) (*player, error) {
	p := &player{base: filepath.Dir(path), calls: or(os.Getenv(CallsVariable), path+callsSuffix), status: "passed"}
	if launched := os.Getenv(launchedVariable); launched != "" {
		number, err := strconv.Atoi(launched)
		if err != nil {
			return nil, err
		}
		p.number, p.folder = number, filepath.Join(p.calls, launched)
	} else {
		var err error
		if p.number, p.folder, err = claim(p.calls); err != nil {
			return nil, err
		}
	}
	p.scenario = &script.Calls[min(p.number, len(script.Calls))-1]
	p.voice = newVoice(speaker{out: os.Stdout, err: os.Stderr, scenario: p.scenario,
		session: or(p.scenario.Session, fmt.Sprintf("fake-session-%d", p.number))}, os.Args[1:])
	return p, nil
}

func (p *player) play() int {
	if p.scenario.Launcher && os.Getenv(launchedVariable) == "" {
		return p.launch()
	}
	p.heed()
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

// launch runs the agent proper as a child.
func (p *player) launch() int {
	program, err := os.Executable()
	if err != nil {
		return complain(err)
	}
	cmd := exec.Command(program, os.Args[1:]...)
	cmd.Env = append(os.Environ(), launchedVariable+"="+strconv.Itoa(p.number), ScenarioVariable+"="+os.Getenv(ScenarioVariable))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	var exited *exec.ExitError
	if err != nil && !errors.As(err, &exited) {
		return complain(err)
	}
	return max(cmd.ProcessState.ExitCode(), 0)
}

// heed makes the soft signal do what the scenario says.
func (p *player) heed() {
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
				p.final(&Final{})
				os.Exit(0)
			}
			p.mu.Unlock()
		}
	}()
}

// note writes down that a signal came. A note that fails is missed by the test.
func note(folder string, s os.Signal) {
	if f, err := os.OpenFile(filepath.Join(folder, signalsFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
		fmt.Fprintln(f, s)
		f.Close()
	}
}

// take takes one step.
func (p *player) take(s Step) error {
	switch {
	case s.Sleep != 0:
		time.Sleep(time.Duration(s.Sleep))
		return nil
	case s.Hang:
		time.Sleep(forever)
		return errors.New("it hung for too long")
	case s.Await != nil:
		return p.await(s.Await)
	case s.Beat != nil:
		return p.beat(s.Beat)
	case s.Read != nil:
		return p.read(s.Read)
	case s.Flood != nil:
		return flood(s.Flood)
	case s.Kill != "":
		return kill(s.Kill)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case s.Say != "":
		p.voice.say(p.brief.fill(s.Say))
	case s.Tool != nil:
		p.voice.use(*s.Tool)
	case s.Final != nil:
		p.final(s.Final)
	case s.Fail != nil:
		p.code = p.voice.fail(*s.Fail)
	case s.Report != nil:
		return p.report(s.Report)
	case s.Print != nil:
		return p.print(s.Print)
	case s.Write != nil:
		return p.write(s.Write)
	case s.Remove != "":
		return os.Remove(p.brief.fill(s.Remove))
	case s.Run != nil:
		return p.run(s.Run)
	case s.Child != nil:
		return s.Child.start(p.folder)
	}
	return nil
}

func (p *player) await(a *Await) error {
	limit := time.Duration(a.For)
	if limit == 0 {
		limit = time.Minute
	}
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		there := a.File == ""
		if a.File != "" {
			_, err := os.Stat(p.brief.fill(a.File))
			there = err == nil
		}
		if there && (a.Calls == 0 || begun(p.calls, a.Calls)) {
			return nil
		}
	}
	return errors.New("what was awaited did not come")
}

func (p *player) beat(b *Beat) error {
	end := time.Now().Add(forever)
	for n := 0; b.Times == 0 || n < b.Times; n++ {
		if time.Now().After(end) {
			return errors.New("it beat for too long")
		}
		p.mu.Lock()
		p.voice.beat()
		p.mu.Unlock()
		time.Sleep(time.Duration(b.Every))
	}
	return nil
}

func (p *player) read(r *Read) error {
	in := io.Reader(os.Stdin)
	if r.Argument > 0 {
		if r.Argument >= len(os.Args) {
			return fmt.Errorf("there is no argument %d", r.Argument)
		}
		f, err := os.Open(os.Args[r.Argument])
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	if r.Bytes > 0 {
		in = io.LimitReader(in, r.Bytes)
	}
	prompt, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.brief = ReadBrief(string(prompt))
	return os.WriteFile(filepath.Join(p.folder, promptFile), prompt, 0o600)
}

func (p *player) report(r *Report) error {
	path := p.brief.fill(or(r.Path, p.brief.ReportPath))
	if path == "" {
		return errors.New("the prompt names no report_path")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	var content []byte
	content, p.status, p.blockers = r.compose(p.brief)
	p.reportPath = path
	return r.put(path, content)
}

func (p *player) final(f *Final) {
	path := or(p.reportPath, p.brief.ReportPath)
	p.voice.final(f.text(p.brief, envelope(p.brief, path, p.status, p.blockers)), f.Cut)
}

func output(to string) *os.File {
	if to == "stderr" {
		return os.Stderr
	}
	return os.Stdout
}

func (p *player) print(w *Print) error {
	data := append([]byte(p.brief.fill(w.Text)), w.Bytes...)
	if w.File != "" {
		path := w.File
		if !filepath.IsAbs(path) {
			path = filepath.Join(p.base, path)
		}
		file, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		data = append(data, file...)
	}
	_, err := output(w.To).Write(data)
	return err
}

func flood(f *Flood) error {
	piece := bytes.Repeat([]byte("x"), 64<<10)
	if f.Line > 0 {
		for i := f.Line - 1; i < len(piece); i += f.Line {
			piece[i] = '\n'
		}
	}
	for left := f.Bytes; left > 0; left -= int64(len(piece)) {
		piece = piece[:min(left, int64(len(piece)))]
		if _, err := output(f.To).Write(piece); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) write(f *File) error {
	path := p.brief.fill(f.Path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	how, mode := os.O_TRUNC, os.FileMode(0o644)
	if f.Append {
		how = os.O_APPEND
	}
	if f.Executable {
		mode = 0o755
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|how, mode)
	if err != nil {
		return err
	}
	_, err = file.WriteString(p.brief.fill(f.Text))
	return errors.Join(err, file.Close())
}

func (p *player) run(r *Run) error {
	argv := make([]string, len(r.Argv))
	for i, arg := range r.Argv {
		argv[i] = p.brief.fill(arg)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = r.Dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", argv[0], err, out)
	}
	return nil
}
