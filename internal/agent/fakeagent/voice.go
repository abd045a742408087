package fakeagent

import (
	"cmp"
	"io"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// voice writes the output of one CLI. It is not for concurrent use.
type voice interface {
	// say, use and beat write events on the way, where the CLI has any.
	say(text string)
	use(tool Tool)
	beat()
	// final writes the final message, broken off after cut bytes if that is not 0.
	final(text string, cut int)
	// fail writes an error, and returns the exit code that goes with it.
	fail(f Failure) int
}

// speaker is what every voice needs.
type speaker struct {
	out, err io.Writer
	scenario *Scenario
	// session is the scenario's, or one for this call.
	session string
	// search is the CLI's name for its search on the web.
	search string
	// tools are those used so far.
	tools []Tool
	began bool
}

// searches has each CLI's name for its search on the web.
var searches = map[string]string{"claude": "WebSearch", "codex": "web_search", "gemini": "google_web_search",
	"opencode": "websearch", "copilot": "web_search", "exec": "search"}

// newVoice finds the CLI's voice. It takes the arguments without the program.
func newVoice(s speaker, args []string) voice {
	stream := slices.Contains(args, "stream-json")
	cli := s.scenario.CLI
	if cli == "" {
		cli = guess(args)
	}
	s.search = searches[cli]
	switch cli {
	case "claude":
		return &claude{speaker: s, stream: stream}
	case "codex":
		return &codex{speaker: s, args: args}
	case "gemini":
		return &gemini{speaker: s, stream: stream}
	case "opencode":
		return &opencode{speaker: s}
	case "copilot":
		return &copilot{speaker: s}
	}
	return &plain{speaker: s}
}

// took counts the use of a tool, and returns it with its name.
func (s *speaker) took(tool Tool) Tool {
	if tool.Search {
		tool.Name = s.search
	}
	s.tools = append(s.tools, tool)
	return tool
}

// guess tells the CLI from the arguments that make it run headless.
func guess(args []string) string {
	has := func(arg string) bool { return slices.Contains(args, arg) }
	switch {
	case len(args) == 0:
		return "exec"
	case args[0] == "exec" && has("--json"):
		return "codex"
	case args[0] == "run" && has("--format"):
		return "opencode"
	case has("-p") || has("--print"):
		return "claude"
	case has("--skip-trust"):
		return "gemini"
	case has("--output-format"):
		return "copilot"
	}
	return "exec"
}

// event writes one line of JSON, broken off after cut bytes if that is not 0.
func (s *speaker) event(object map[string]any, cut int) {
	line := append(encode(object), '\n')
	if cut > 0 && cut < len(line) {
		line = line[:cut]
	}
	s.out.Write(line)
}

// withModel adds the scenario's model, if it has one.
func (s *speaker) withModel(object map[string]any) map[string]any {
	if s.scenario.Model != "" {
		object["model"] = s.scenario.Model
	}
	return object
}

// cost is the scenario's, as a JSON number.
func (s *speaker) cost() (jsontext.Value, bool) {
	return jsontext.Value(s.scenario.Cost), s.scenario.Cost != ""
}

// number is an id that counts what was used so far.
func (s *speaker) number(prefix string) string { return prefix + strconv.Itoa(len(s.tools)) }

// failed is how many of the tools were denied.
func (s *speaker) failed() int {
	n := 0
	for _, tool := range s.tools {
		if tool.Denied {
			n++
		}
	}
	return n
}

// input is what a tool was told, never null.
func (t Tool) input() map[string]any {
	if t.Input == nil {
		return map[string]any{}
	}
	return t.Input
}

// usageError is how every CLI fails that does not understand its arguments.
func (s *speaker) usageError(f Failure, code int) int {
	io.WriteString(s.err, cmp.Or(f.Message, "error: Unknown argument: fake")+"\n")
	return code
}

// mock is what an API says of such a status.
func mock(status int) string { return "mock " + strconv.Itoa(status) }
