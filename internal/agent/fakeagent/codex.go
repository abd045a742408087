package fakeagent

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"slices"
)

// codex is Codex: a stream of items, and the final message in a file too.
type codex struct {
	speaker
	args  []string
	items int
}

func (c *codex) begin() {
	if c.began {
		return
	}
	c.began = true
	c.event(map[string]any{"type": "thread.started", "thread_id": c.session}, 0)
	// A warning that the real one gives for models that it does not know.
	c.item("item.completed", map[string]any{"type": "error", "message": "Model metadata for `fake` not found."}, 0)
	c.event(map[string]any{"type": "turn.started"}, 0)
}

func (c *codex) item(event string, item map[string]any, cut int) {
	item["id"] = fmt.Sprintf("item_%d", c.items)
	c.items++
	c.event(map[string]any{"type": event, "item": item}, cut)
}

func (c *codex) say(text string) {
	c.begin()
	c.item("item.completed", map[string]any{"type": "agent_message", "text": text}, 0)
}

// use names a web search as such, and anything else a command. Codex says nowhere
// that a command was denied: it has failed.
func (c *codex) use(tool Tool) {
	c.begin()
	tool = c.took(tool)
	if tool.Search {
		c.item("item.completed", map[string]any{"type": "web_search", "query": "x"}, 0)
		return
	}
	code, status := 0, "completed"
	if tool.Denied {
		code, status = 1, "failed"
	}
	c.item("item.completed", map[string]any{"type": "command_execution", "command": tool.Name, "aggregated_output": "",
		"exit_code": code, "status": status}, 0)
}

func (c *codex) beat() {
	c.begin()
	c.event(map[string]any{"type": "error", "message": "Reconnecting... 1/5 (stream disconnected)"}, 0)
}

func (c *codex) final(text string, cut int) {
	c.begin()
	c.item("item.completed", map[string]any{"type": "agent_message", "text": text}, cut)
	if i := slices.IndexFunc(c.args, func(arg string) bool { return arg == "-o" || arg == "--output-last-message" }); i >= 0 && i+1 < len(c.args) {
		if err := os.WriteFile(c.args[i+1], []byte(text), 0o600); err != nil {
			panic(playError{err})
		}
	}
	done := map[string]any{"type": "turn.completed"}
	if u := c.scenario.Usage; u != nil {
		done["usage"] = map[string]any{"input_tokens": u.In, "cached_input_tokens": u.Cached, "output_tokens": u.Out,
			"reasoning_output_tokens": 0}
	}
	c.event(done, 0)
}

func (c *codex) fail(f Failure) int {
	if f.Kind == "usage" {
		return c.usageError(f, 2)
	}
	message := "stream disconnected before completion"
	switch {
	case f.Status == 429:
		message = "exceeded retry limit, last status: 429 Too Many Requests"
	case f.Status != 0:
		message = fmt.Sprintf("unexpected status %d %s: %s", f.Status, cmp.Or(http.StatusText(f.Status), "<unknown status code>"), mock(f.Status))
	}
	message = cmp.Or(f.Message, message)
	c.begin()
	c.event(map[string]any{"type": "error", "message": message}, 0)
	c.event(map[string]any{"type": "turn.failed", "error": map[string]any{"message": message}}, 0)
	return 1
}
