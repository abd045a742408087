package fakeagent

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// clisJSON has a cli for each name. Its events are lists for each step. An event is an object or
// a line of text; a line that begins with "!" goes to standard error. In both, "$name" stands
// for a value; a member without a value is omitted. The members $cut, $stderr and $with mean
// that the event may be cut, goes to standard error, or extends another event. A list may
// include the events of "say".
//
//go:embed clis.json
var clisJSON []byte

// cli describes the output of one CLI.
type cli struct {
	// Search is the name of its web search.
	Search string `json:"search"`
	// UsageExit is the code for wrong arguments, 0 for the common one.
	UsageExit int `json:"usage_exit"`
	// ExitIsStatus is true if the code for a failure is that of the API's answer.
	ExitIsStatus bool `json:"exit_is_status"`
	// Messages has the texts of failures by their kinds and statuses.
	Messages map[string]string         `json:"messages"`
	Events   map[string]jsontext.Value `json:",embed"`
}

// cliOutput writes the output of one CLI. It is not safe for concurrent use.
type cliOutput struct {
	cli
	scenario *Scenario
	session  string
	outFile  string // the file to which codex also writes its final message
	tools    []Tool
	began    bool
	messages int
}

func newCLIOutput(s *Scenario, session string, args []string) (*cliOutput, error) {
	name := cmp.Or(s.CLI, guessCLI(args))
	var all map[string]cli
	if err := json.Unmarshal(clisJSON, &all); err != nil {
		return nil, err
	}
	c := &cliOutput{cli: all[name], scenario: s, session: session}
	if i := slices.IndexFunc(args, func(arg string) bool { return arg == "-o" || arg == "--output-last-message" }); name == "codex" && i >= 0 && i+1 < len(args) {
		c.outFile = args[i+1]
	}
	return c, nil
}

// guessCLI derives the CLI from the arguments of its non-interactive mode.
func guessCLI(args []string) string {
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

func (c *cliOutput) say(text string) { c.write("say", 0, map[string]any{"text": text}) }

func (c *cliOutput) keepalive() { c.write("beat", 0, nil) }

func (c *cliOutput) use(tool Tool) {
	if tool.Search {
		tool.Name = c.Search
	}
	if tool.Input == nil {
		tool.Input = map[string]any{}
	}
	c.tools = append(c.tools, tool)
	kind := "tool"
	if _, ok := c.Events["denied"]; ok && tool.Denied {
		kind = "denied"
	} else if _, ok := c.Events["web search"]; ok && tool.Search {
		kind = "web search"
	}
	c.write(kind, 0, map[string]any{"name": tool.Name, "input": tool.Input, "denied": tool.Denied})
}

// final writes the final message, cut after cut bytes unless cut is 0.
func (c *cliOutput) final(text string, cut int) error {
	c.write("final", cut, map[string]any{"text": text})
	if c.outFile == "" {
		return nil
	}
	return os.WriteFile(c.outFile, []byte(text), 0o600)
}

// fail writes an error and returns the exit code.
func (c *cliOutput) fail(f Failure) int {
	if f.Kind == "usage" {
		fmt.Fprintln(os.Stderr, cmp.Or(f.Message, "error: Unknown argument: fake"))
		return cmp.Or(c.UsageExit, 1)
	}
	status := strconv.Itoa(f.Status)
	message := cmp.Or(f.Message, c.Messages[cmp.Or(f.Kind, status)], c.Messages[""], "mock $status")
	values := map[string]any{"text": strings.NewReplacer(
		"$status", status, "$reason", cmp.Or(http.StatusText(f.Status), "<unknown status code>"), "$retry_after", strconv.Itoa(f.RetryAfter),
	).Replace(message)}
	if f.Status != 0 {
		values["status"] = f.Status
	}
	if f.RetryAfter != 0 {
		values["retry_after"] = strconv.Itoa(f.RetryAfter)
		values["resets_at"] = time.Now().Unix() + int64(f.RetryAfter)
	}
	kind := "fail"
	if _, ok := c.Events["fail "+f.Kind]; ok {
		kind = "fail " + f.Kind
	}
	c.write(kind, 0, values)
	if c.ExitIsStatus && f.Status != 0 {
		return f.Status & 0xff // The system keeps eight bits.
	}
	return 1
}

func (c *cliOutput) write(kind string, cut int, values map[string]any) {
	if !c.began {
		c.began = true
		c.write("begin", 0, nil)
	}
	for _, event := range c.list(kind) {
		text, ok := event.(string)
		if text == "say" {
			c.write("say", 0, values)
			continue
		}
		all := c.values(values)
		if ok {
			text, isErr := strings.CutPrefix(text, "!")
			for name, value := range all {
				text = strings.ReplaceAll(text, "$"+name, fmt.Sprint(value))
			}
			printLine(text+"\n", isErr, cut)
			continue
		}
		object := event.(map[string]any)
		if base, ok := object["$with"]; ok {
			merged := c.list(base.(string))[0].(map[string]any)
			maps.Copy(merged, object)
			object = merged
		}
		_, isErr := object["$stderr"]
		if _, ok := object["$cut"]; !ok {
			cut = 0
		}
		for _, name := range []string{"$with", "$stderr", "$cut"} {
			delete(object, name)
		}
		if object["type"] == "assistant" {
			c.messages++
			all = c.values(values)
		}
		printLine(string(encode(fill(object, all).(map[string]any)))+"\n", isErr, cut)
	}
}

func (c *cliOutput) list(kind string) (events []any) {
	if raw, ok := c.Events[kind]; ok {
		_ = json.Unmarshal(raw, &events) // The file is embedded and valid.
	}
	return events
}

// printLine prints a line, or its first cut bytes if cut is not 0.
func printLine(line string, isErr bool, cut int) {
	out := os.Stdout
	if isErr {
		out = os.Stderr
	}
	if cut > 0 && cut < len(line) {
		line = line[:cut]
	}
	_, _ = out.WriteString(line)
}

// values adds the scenario's values to the values of a step.
func (c *cliOutput) values(step map[string]any) map[string]any {
	denials := []any{}
	for i, tool := range c.tools {
		if tool.Denied {
			denials = append(denials, map[string]any{"tool_name": tool.Name, "tool_use_id": "tool_" + strconv.Itoa(i+1), "tool_input": tool.Input})
		}
	}
	all := map[string]any{"session": c.session, "tool_id": "tool_" + strconv.Itoa(len(c.tools)), "message_id": "msg_" + strconv.Itoa(c.messages), "denials": denials}
	if c.scenario.Model != "" {
		all["model"] = c.scenario.Model
	}
	if c.scenario.Cost != "" {
		all["cost"] = jsontext.Value(c.scenario.Cost)
	}
	if u := c.scenario.Usage; u != nil {
		all["in"], all["out"], all["cached"], all["fresh"] = u.In, u.Out, u.Cached, u.In-u.Cached
		// Readers add up the usage of messages, so only the first one has it.
		all["new_fresh"], all["new_out"], all["new_cached"] = 0, 0, 0
		if c.messages <= 1 {
			all["new_fresh"], all["new_out"], all["new_cached"] = u.In-u.Cached, u.Out, u.Cached
		}
	}
	maps.Copy(all, step)
	return all
}

// fill replaces variables in an event. Members without a value are omitted.
func fill(template any, values map[string]any) any {
	switch t := template.(type) {
	case string:
		if name, ok := strings.CutPrefix(t, "$"); ok {
			return values[name]
		}
	case []any:
		for i := range t {
			t[i] = fill(t[i], values)
		}
	case map[string]any:
		filled := map[string]any{}
		for name, value := range t {
			if v := fill(value, values); v != nil || value == nil {
				if key, ok := fill(name, values).(string); ok {
					filled[key] = v
				}
			}
		}
		return filled
	}
	return template
}
