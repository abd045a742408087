package fakeagent

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
)

// Script is what a fake agent plays: the file's whole content.
type Script struct {
	// Version and Help are what --version and --help print; "" stands for a text
	// that belongs to no CLI.
	Version string `json:"version,omitzero"`
	Help    string `json:"help,omitzero"`
	// Calls has a scenario for each call. Calls beyond its end play the last.
	Calls []Scenario `json:"calls"`
}

// Scenario is what one call plays.
type Scenario struct {
	// Play is the name of a preset that replaces this scenario.
	Play string `json:"play,omitzero"`
	// CLI is whose output is written: claude, codex, gemini, opencode, copilot or
	// exec, which is plain text. "" tells it from the arguments.
	CLI string `json:"cli,omitzero"`
	// Term is what a soft signal does. "" is to die of it; "ignore" goes on; "exit"
	// ends with code 0; "result" writes the final message before that.
	Term string `json:"term,omitzero"`
	// Launcher makes the call a launcher, which starts the agent proper as its
	// child and ends as that does.
	Launcher bool `json:"launcher,omitzero"`
	// Model, Session, Usage and Cost are reported where the CLI has a place for
	// them. Zero values are left out, as by a CLI that does not know.
	Model   string `json:"model,omitzero"`
	Session string `json:"session,omitzero"`
	Usage   *Usage `json:"usage,omitzero"`
	// Cost is in dollars, a JSON number that is written as it stands.
	Cost string `json:"cost,omitzero"`
	// Steps are taken in turn.
	Steps []Step `json:"steps,omitzero"`
}

// Usage is in tokens. In counts all that went to the model, those from its cache
// included.
type Usage struct {
	In     int64 `json:"in"`
	Out    int64 `json:"out"`
	Cached int64 `json:"cached,omitzero"`
}

// Step is one thing to do: exactly one member is set.
type Step struct {
	// Read reads the prompt. Without it standard input stays unread.
	Read *Read `json:"read,omitzero"`
	// Say is a message on the way, which is not the last one.
	Say string `json:"say,omitzero"`
	// Tool is the use of a tool, as an event. Nothing else happens.
	Tool *Tool `json:"tool,omitzero"`
	// Tick writes keep-alive events.
	Tick *Keepalive `json:"beat,omitzero"`
	// Report writes a critic's report.
	Report *Report `json:"report,omitzero"`
	// Final writes the final message, with all that the CLI reports beside it.
	Final *Final `json:"final,omitzero"`
	// Fail writes an error in the CLI's own form and sets the exit code it has there.
	Fail *Failure `json:"fail,omitzero"`
	// Print writes anything; Flood writes much of it.
	Print *Print `json:"print,omitzero"`
	Flood *Flood `json:"flood,omitzero"`
	// Write writes a file, Remove removes one, and Run runs a command.
	Write  *File  `json:"write,omitzero"`
	Remove string `json:"remove,omitzero"`
	Run    *Run   `json:"run,omitzero"`
	// Child leaves a process behind.
	Child *Child `json:"child,omitzero"`
	// Sleep waits, Hang waits for ever, and Await waits for something.
	Sleep Duration `json:"sleep,omitzero"`
	Hang  bool     `json:"hang,omitzero"`
	Await *Await   `json:"await,omitzero"`
	// Exit ends the call with that code, Kill with a signal: KILL, TERM, INT, SEGV
	// or ABRT.
	Exit *int   `json:"exit,omitzero"`
	Kill string `json:"kill,omitzero"`
}

// Read says where the prompt comes from.
type Read struct {
	// Bytes is after how many of them reading stops; 0 reads to the end.
	Bytes int64 `json:"bytes,omitzero"`
	// Argument reads the file that this argument names instead, counted from 1.
	Argument int `json:"argument,omitzero"`
}

// Tool is one use of a tool.
type Tool struct {
	// Name is the CLI's own name for it; with Search, that of its search on the web.
	Name   string `json:"name,omitzero"`
	Search bool   `json:"search,omitzero"`
	// Input is what the tool is told, nil for nothing.
	Input map[string]any `json:"input,omitzero"`
	// Denied: the CLI did not let the agent use it.
	Denied bool `json:"denied,omitzero"`
}

// Keepalive says how to write keep-alive events.
type Keepalive struct {
	Every Duration `json:"every"`
	// Times is how many, 0 for ever.
	Times int `json:"times,omitzero"`
}

// Object is how a JSON object differs from what the agent would write.
type Object struct {
	// Set replaces and adds members.
	Set map[string]any `json:"set,omitzero"`
	// Without names those that are left out.
	Without []string `json:"without,omitzero"`
}

// Report is a critic's report. By default it is about the prompt's task and round,
// has a criterion that is satisfied, and lies where the prompt wants it.
type Report struct {
	// Path is where it is written instead.
	Path string `json:"path,omitzero"`
	// Findings makes it one that found something.
	Findings []Finding `json:"findings,omitzero"`
	// Object is how it differs from a proper report.
	Object Object `json:"object,omitzero"`
	// Text is written instead of a report, also where it is "".
	Text *string `json:"text,omitzero"`
	// Age is how long ago the file says it was written.
	Age Duration `json:"age,omitzero"`
	// Link is where the content goes instead; Path becomes a symbolic link to it.
	Link string `json:"link,omitzero"`
}

// Finding is a finding of a Report.
type Finding struct {
	Category    string `json:"category"`
	Severity    string `json:"severity,omitzero"`
	File        string `json:"file,omitzero"`
	Line        int    `json:"line,omitzero"`
	Remediation string `json:"remediation"`
}

// Final is a final message. By default it is the envelope that fits the report
// which the call wrote last.
type Final struct {
	// Text is said instead of the envelope, also where it is "".
	Text *string `json:"text,omitzero"`
	// Object is how the envelope differs from the fitting one.
	Object Object `json:"object,omitzero"`
	// Wrap is what stands around the envelope: "fence", "prose", or "twice", which
	// says it two times.
	Wrap string `json:"wrap,omitzero"`
	// Cut is after how many bytes the event that has the message breaks off; 0 leaves
	// it whole.
	Cut int `json:"cut,omitzero"`
}

// Failure is an error that ends an agent.
type Failure struct {
	// Status is what the model's API answered; 0 where nobody did.
	Status int `json:"status,omitzero"`
	// Message is the prose; "" takes what the CLI says of such a status.
	Message string `json:"message,omitzero"`
	// Kind is one that is no answer of the API: max-turns, budget, refusal, or usage,
	// which is a line on standard error and nothing else. CLIs other than claude know
	// usage alone.
	Kind string `json:"kind,omitzero"`
	// RetryAfter is in seconds, where the CLI hands that on.
	RetryAfter int `json:"retry_after,omitzero"`
}

// Print writes a text, bytes or a file to "stdout" (also "") or "stderr".
type Print struct {
	To    string `json:"to,omitzero"`
	Text  string `json:"text,omitzero"`
	Bytes []byte `json:"bytes,omitzero"`
	// File is relative to the script's folder.
	File string `json:"file,omitzero"`
}

// Flood writes Bytes bytes, in lines of Line bytes, 0 for a single one. There is no
// flood without an end: it could fill a disk.
type Flood struct {
	To    string `json:"to,omitzero"`
	Bytes int64  `json:"bytes"`
	Line  int    `json:"line,omitzero"`
}

// File is a file to write, with the folders above it. Paths are relative to the
// folder that the agent runs in.
type File struct {
	Path   string `json:"path"`
	Text   string `json:"text,omitzero"`
	Append bool   `json:"append,omitzero"`
	// Executable makes it a program, such as a hook.
	Executable bool `json:"executable,omitzero"`
}

// Run is a command to run. One that fails is an error of the script.
type Run struct {
	Argv []string `json:"argv"`
	Dir  string   `json:"dir,omitzero"`
}

// Child is a process that an agent leaves behind. It ends by itself after Life,
// a minute by default, so that a failed test does not leave it for long.
type Child struct {
	// Session gives it a session of its own, where signals to groups do not reach.
	Session bool `json:"session,omitzero"`
	// Hold lets it keep standard output and standard error.
	Hold bool `json:"hold,omitzero"`
	// Clear takes its environment away.
	Clear bool `json:"clear,omitzero"`
	// Orphan takes its parent away.
	Orphan bool `json:"orphan,omitzero"`
	// Stubborn makes it ignore soft signals.
	Stubborn bool     `json:"stubborn,omitzero"`
	Life     Duration `json:"life,omitzero"`
}

// Await waits until something is so, and at most For, a minute by default; then
// the script has failed.
type Await struct {
	// Calls waits until that many calls have begun, this one included.
	Calls int `json:"calls,omitzero"`
	// File waits until the file is there.
	File string   `json:"file,omitzero"`
	For  Duration `json:"for,omitzero"`
}

// Duration is a time.Duration that JSON writes as "1m30s".
type Duration time.Duration

// MarshalText is never an error.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText takes what time.ParseDuration takes.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}

// parse reads a script and checks it.
func parse(data []byte) (*Script, error) {
	var s Script
	if err := json.Unmarshal(data, &s, json.RejectUnknownMembers(true)); err != nil {
		return nil, err
	}
	return &s, s.check()
}

func (s *Script) check() error {
	if len(s.Calls) == 0 {
		return fmt.Errorf("the script has no calls")
	}
	for i := range s.Calls {
		if err := s.Calls[i].check(); err != nil {
			return fmt.Errorf("call %d: %w", i+1, err)
		}
	}
	return nil
}

// check refuses what could not be played, and replaces a scenario by the ready one
// that it names.
func (s *Scenario) check() error {
	if s.Play != "" {
		ready, ok := Presets()[s.Play]
		if !ok {
			return fmt.Errorf("there is no ready scenario %q", s.Play)
		}
		if !reflect.DeepEqual(*s, Scenario{Play: s.Play}) {
			return fmt.Errorf("play stands alone")
		}
		*s = ready
	}
	if !slices.Contains([]string{"", "claude", "codex", "gemini", "opencode", "copilot", "exec"}, s.CLI) {
		return fmt.Errorf("there is no cli %q", s.CLI)
	}
	if !slices.Contains([]string{"", "ignore", "exit", "result"}, s.Term) {
		return fmt.Errorf("term cannot be %q", s.Term)
	}
	for i, step := range s.Steps {
		if err := step.check(); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return nil
}

func (s Step) check() error {
	set := 0
	for _, member := range reflect.ValueOf(s).Fields() {
		if !member.IsZero() {
			set++
		}
	}
	if set != 1 {
		return fmt.Errorf("a step does one thing, not %d", set)
	}
	outs := []string{"", "stdout", "stderr"}
	switch {
	case s.Print != nil && !slices.Contains(outs, s.Print.To), s.Flood != nil && !slices.Contains(outs, s.Flood.To):
		return fmt.Errorf("output goes to stdout or stderr")
	case s.Final != nil && !slices.Contains([]string{"", "fence", "prose", "twice"}, s.Final.Wrap):
		return fmt.Errorf("wrap cannot be %q", s.Final.Wrap)
	case s.Fail != nil && !slices.Contains([]string{"", "max-turns", "budget", "refusal", "usage"}, s.Fail.Kind):
		return fmt.Errorf("kind cannot be %q", s.Fail.Kind)
	case s.Tool != nil && (s.Tool.Name == "") != s.Tool.Search:
		return fmt.Errorf("a tool has a name, or it is the search")
	case s.Tick != nil && s.Tick.Every <= 0:
		return fmt.Errorf("a beat needs a time between two signs")
	case s.Flood != nil && s.Flood.Bytes <= 0:
		return fmt.Errorf("a flood has an end")
	case s.Run != nil && len(s.Run.Argv) == 0:
		return fmt.Errorf("there is no command to run")
	}
	return nil
}
