package fakeagent

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
)

// Script is the content of a script file.
type Script struct {
	// Version and Help are printed for --version and --help. The default texts do not belong
	// to a real CLI.
	Version string `json:"version,omitzero"`
	Help    string `json:"help,omitzero"`
	// Calls has a scenario for each call. Calls beyond the end repeat the last.
	Calls []Scenario `json:"calls,omitzero"`
	// Roles has the scenarios of the calls for a role (SWITCHYARD_ROLE), one for each round
	// (SWITCHYARD_ROUND). Rounds beyond the end repeat the last. Calls applies to other roles.
	Roles map[string][]Scenario `json:"roles,omitzero"`
}

// Scenario is the behaviour of one call.
type Scenario struct {
	// Play is the name of a preset that replaces this scenario.
	Play string `json:"play,omitzero"`
	// CLI is the CLI to imitate: claude, codex, gemini, opencode, copilot or exec, which
	// is plain text. "" derives it from the arguments.
	CLI string `json:"cli,omitzero"`
	// Term is the reaction to SIGTERM: "" dies from it; "ignore" continues; "exit" ends with
	// code 0; "result" writes the final message before that.
	Term string `json:"term,omitzero"`
	// Model, Session, Usage and Cost are reported if the CLI can report them. Zero values
	// are omitted.
	Model   string `json:"model,omitzero"`
	Session string `json:"session,omitzero"`
	Usage   *Usage `json:"usage,omitzero"`
	// Cost is in dollars, a JSON number that is written unchanged.
	Cost string `json:"cost,omitzero"`
	// Steps run in order.
	Steps []Step `json:"steps,omitzero"`
}

// Usage is in tokens. In includes tokens from the cache.
type Usage struct {
	In     int64 `json:"in"`
	Out    int64 `json:"out"`
	Cached int64 `json:"cached,omitzero"`
}

// Step is one action: exactly one member is set.
type Step struct {
	// Read reads the prompt. Without it standard input is not read.
	Read *Read `json:"read,omitzero"`
	// Say is an intermediate message.
	Say string `json:"say,omitzero"`
	// Tool reports the use of a tool, without any effect.
	Tool *Tool `json:"tool,omitzero"`
	// Tick writes keep-alive events.
	Tick *Keepalive `json:"beat,omitzero"`
	// Report writes a critic's report.
	Report *Report `json:"report,omitzero"`
	// Final writes the final message, with everything that the CLI reports with it.
	Final *Final `json:"final,omitzero"`
	// Fail writes an error in the CLI's format and sets the CLI's exit code for it.
	Fail *Failure `json:"fail,omitzero"`
	// Print writes any text; Flood writes a large amount.
	Print *Print `json:"print,omitzero"`
	Flood *Flood `json:"flood,omitzero"`
	// Write writes a file, and Append appends to one. Remove removes a file or a directory,
	// which may be the working directory. Run runs a command. Hook writes the git hook of that
	// name.
	Write  *File  `json:"write,omitzero"`
	Append *File  `json:"append,omitzero"`
	Remove string `json:"remove,omitzero"`
	Run    *Run   `json:"run,omitzero"`
	Hook   string `json:"hook,omitzero"`
	// Child leaves a process behind.
	Child *Child `json:"child,omitzero"`
	// Sleep waits for some time, Hang until the call is ended, and Await for a condition.
	Sleep Duration `json:"sleep,omitzero"`
	Hang  bool     `json:"hang,omitzero"`
	Await *Await   `json:"await,omitzero"`
	// Exit ends the call with that code, Kill with a signal: KILL, TERM, INT, SEGV or
	// ABRT.
	Exit *int   `json:"exit,omitzero"`
	Kill string `json:"kill,omitzero"`
}

// Read reads the prompt from standard input.
type Read struct{}

// Tool is one use of a tool.
type Tool struct {
	// Name is the CLI's name of the tool. If Search is set, it is replaced by the name of
	// the CLI's web search.
	Name   string `json:"name,omitzero"`
	Search bool   `json:"search,omitzero"`
	// Input is the input of the tool; it may be nil.
	Input map[string]any `json:"input,omitzero"`
	// Denied is set if the CLI did not permit the use.
	Denied bool `json:"denied,omitzero"`
}

// Keepalive configures keep-alive events.
type Keepalive struct {
	Every Duration `json:"every"`
	// Times is their number, 0 for no limit.
	Times int `json:"times,omitzero"`
}

// Object has the differences from the default JSON object.
type Object struct {
	// Set replaces and adds members.
	Set map[string]any `json:"set,omitzero"`
	// Without names the omitted members.
	Without []string `json:"without,omitzero"`
}

// Report is a critic's report. By default it is about the prompt's task and round, has a
// satisfied criterion, and is written to the prompt's path.
type Report struct {
	// Path replaces the prompt's path.
	Path string `json:"path,omitzero"`
	// Findings are the findings of the report.
	Findings []Finding `json:"findings,omitzero"`
	// Object has the differences from a correct report.
	Object Object `json:"object,omitzero"`
	// Text replaces the report, even if it is "".
	Text *string `json:"text,omitzero"`
	// Age sets the file's modification time to that long ago.
	Age Duration `json:"age,omitzero"`
	// Link is the file that gets the content; Path becomes a symbolic link to it. It may have
	// placeholders, as Text.
	Link string `json:"link,omitzero"`
}

// Finding is a finding of a Report. Its members are in the order of their names, as in the report.
type Finding struct {
	Category string `json:"category"`
	File     string `json:"file,omitzero"`
	Line     int    `json:"line,omitzero"`
	// Question is the critic's question to the user.
	Question    *Question `json:"question_to_user,omitzero"`
	Remediation string    `json:"remediation"`
	Severity    string    `json:"severity,omitzero"`
}

// Question is a question to the user, with the answers to choose from.
type Question struct {
	Question string   `json:"question"`
	Choices  []string `json:"choices,omitzero"`
}

// Final is a final message. By default it is the envelope of the report that the call
// wrote last.
type Final struct {
	// Text replaces the envelope, even if it is "".
	Text *string `json:"text,omitzero"`
	// Object has the differences from the correct envelope.
	Object Object `json:"object,omitzero"`
	// Wrap surrounds the envelope: "fence", "prose", or "twice", which repeats it.
	Wrap string `json:"wrap,omitzero"`
	// Cut cuts the event with the message after that many bytes; 0 leaves it whole.
	Cut int `json:"cut,omitzero"`
}

// Failure is an error that ends an agent.
type Failure struct {
	// Status is the status of the model's API; 0 if there was no answer.
	Status int `json:"status,omitzero"`
	// Message is the text; "" uses the CLI's text for the status.
	Message string `json:"message,omitzero"`
	// Kind is limit, for a usage limit that ends after RetryAfter, or a failure without an
	// answer of the API: max-turns, budget, refusal, or usage, which is only a line on
	// standard error. CLIs other than claude support only limit and usage.
	Kind string `json:"kind,omitzero"`
	// RetryAfter is in seconds, if the CLI reports it.
	RetryAfter int `json:"retry_after,omitzero"`
}

// Print writes a text or bytes to "stdout" (the default) or "stderr".
type Print struct {
	To    string `json:"to,omitzero"`
	Text  string `json:"text,omitzero"`
	Bytes []byte `json:"bytes,omitzero"`
}

// Flood writes Bytes bytes, in lines of Line bytes, or in one line if Line is 0. It has no
// default, since it could fill a disk.
type Flood struct {
	To    string `json:"to,omitzero"`
	Bytes int64  `json:"bytes"`
	Line  int    `json:"line,omitzero"`
}

// File is a file to write, with its parent directories. Paths are relative to the agent's
// working directory.
type File struct {
	Path string `json:"path"`
	Text string `json:"text,omitzero"`
	// Executable makes it a program, such as a hook.
	Executable bool `json:"executable,omitzero"`
}

// Run is a command to run. If it fails, the script is invalid.
type Run struct {
	Argv []string `json:"argv"`
	Dir  string   `json:"dir,omitzero"`
}

// Child is a process that an agent leaves behind. It ends after a minute, so that a failed
// test does not leave it running for long.
type Child struct {
	// Session starts it in a new session, so that signals to groups do not reach it.
	Session bool `json:"session,omitzero"`
	// Hold keeps standard output and standard error open.
	Hold bool `json:"hold,omitzero"`
	// Clear removes its environment.
	Clear bool `json:"clear,omitzero"`
	// Orphan removes its parent.
	Orphan bool `json:"orphan,omitzero"`
	// Stubborn makes it ignore signals other than SIGKILL.
	Stubborn bool `json:"stubborn,omitzero"`
}

// Await waits for a condition. The script fails if that does not hold within For, a minute by
// default.
type Await struct {
	// Calls waits until that many calls have begun, including this one.
	Calls int `json:"calls,omitzero"`
	// File waits until the file exists.
	File string   `json:"file,omitzero"`
	For  Duration `json:"for,omitzero"`
}

// Duration is a time.Duration, in JSON as "1m30s".
type Duration time.Duration

// MarshalText returns the text of time.Duration. It never fails.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText accepts the format of time.ParseDuration.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}

func parse(data []byte) (*Script, error) {
	var s Script
	if err := json.Unmarshal(data, &s, json.RejectUnknownMembers(true)); err != nil {
		return nil, err
	}
	if len(s.Calls) == 0 && len(s.Roles) == 0 {
		return nil, fmt.Errorf("the script has no calls")
	}
	for i := range s.Calls {
		if err := s.Calls[i].check(); err != nil {
			return nil, fmt.Errorf("call %d: %w", i+1, err)
		}
	}
	for role, rounds := range s.Roles {
		if len(rounds) == 0 {
			return nil, fmt.Errorf("role %s has no rounds", role)
		}
		for i := range rounds {
			if err := rounds[i].check(); err != nil {
				return nil, fmt.Errorf("role %s, round %d: %w", role, i+1, err)
			}
		}
	}
	return &s, nil
}

// scenario returns the scenario of a call, by its role and round, else by its number.
func (s *Script) scenario(role string, round, number int) (*Scenario, error) {
	if rounds := s.Roles[role]; len(rounds) > 0 {
		return &rounds[min(max(round, 1), len(rounds))-1], nil
	}
	if len(s.Calls) == 0 {
		return nil, fmt.Errorf("the script has nothing for the role %q", role)
	}
	return &s.Calls[min(number, len(s.Calls))-1], nil
}

// check rejects invalid scenarios, and replaces a scenario by the preset that it names.
func (s *Scenario) check() error {
	if s.Play != "" {
		ready, ok := Presets()[s.Play]
		if !ok {
			return fmt.Errorf("there is no preset %q", s.Play)
		}
		if !reflect.DeepEqual(*s, Scenario{Play: s.Play}) {
			return fmt.Errorf("play cannot have other members")
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
		return fmt.Errorf("a step must have one member, not %d", set)
	}
	outs := []string{"", "stdout", "stderr"}
	switch {
	case s.Print != nil && !slices.Contains(outs, s.Print.To), s.Flood != nil && !slices.Contains(outs, s.Flood.To):
		return fmt.Errorf("output must go to stdout or stderr")
	case s.Final != nil && !slices.Contains([]string{"", "fence", "prose", "twice"}, s.Final.Wrap):
		return fmt.Errorf("wrap cannot be %q", s.Final.Wrap)
	case s.Fail != nil && !slices.Contains([]string{"", "limit", "max-turns", "budget", "refusal", "usage"}, s.Fail.Kind):
		return fmt.Errorf("kind cannot be %q", s.Fail.Kind)
	case s.Tool != nil && (s.Tool.Name == "") != s.Tool.Search:
		return fmt.Errorf("a tool must have either a name or search")
	case s.Tick != nil && s.Tick.Every <= 0:
		return fmt.Errorf("a beat must have a positive interval")
	case s.Flood != nil && s.Flood.Bytes <= 0:
		return fmt.Errorf("a flood must have a positive size")
	case s.Run != nil && len(s.Run.Argv) == 0:
		return fmt.Errorf("there is no command to run")
	}
	return nil
}
