package fakeagent

import (
	"cmp"
	"strconv"
)

// claude is Claude Code: a stream of events, or their last one alone.
type claude struct {
	speaker
	stream bool
	// messages counts the events of the assistant, each a message of its own.
	messages int
}

func (c *claude) begin() {
	if c.began || !c.stream {
		return
	}
	c.began = true
	c.event(c.withModel(map[string]any{"type": "system", "subtype": "init", "session_id": c.session,
		"permissionMode": "dontAsk", "tools": []string{"Bash", "Edit", "Read", "WebSearch", "Write"}}), 0)
}

func (c *claude) message(content map[string]any) {
	c.begin()
	if !c.stream {
		return
	}
	c.messages++
	message := c.withModel(map[string]any{"type": "message", "id": "msg_" + strconv.Itoa(c.messages), "role": "assistant",
		"content": []any{content}})
	if u := c.scenario.Usage; u != nil {
		if c.messages > 1 {
			u = &Usage{} // Readers add up what messages used, and the first one had it all.
		}
		message["usage"] = u.claude()
	}
	c.event(map[string]any{"type": "assistant", "session_id": c.session, "parent_tool_use_id": nil, "message": message}, 0)
}

func (c *claude) say(text string) { c.message(map[string]any{"type": "text", "text": text}) }

func (c *claude) use(tool Tool) {
	tool = c.took(tool)
	id := c.number("toolu_")
	c.message(map[string]any{"type": "tool_use", "id": id, "name": tool.Name, "input": tool.input()})
	if !c.stream {
		return
	}
	c.event(map[string]any{"type": "user", "session_id": c.session, "message": map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "tool_result", "tool_use_id": id, "content": "done", "is_error": tool.Denied}}}}, 0)
}

func (c *claude) beat() {
	c.begin()
	if c.stream {
		c.event(map[string]any{"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 10, "retry_delay_ms": 500,
			"error_status": 529, "error": "overloaded", "session_id": c.session}, 0)
	}
}

func (c *claude) final(text string, cut int) {
	c.say(text)
	c.event(c.result(map[string]any{"subtype": "success", "is_error": false, "api_error_status": nil, "result": text,
		"stop_reason": "end_turn", "terminal_reason": "completed"}), cut)
}

func (c *claude) fail(f Failure) int {
	switch f.Kind {
	case "usage":
		return c.usageError(f, 1)
	case "max-turns":
		c.begin()
		c.event(c.result(map[string]any{"subtype": "error_max_turns", "is_error": true, "terminal_reason": "max_turns",
			"errors": []string{cmp.Or(f.Message, "Reached maximum number of turns (3)")}}), 0)
		return 1
	case "budget":
		c.begin()
		c.event(c.result(map[string]any{"subtype": "error_max_budget_usd", "is_error": true, "terminal_reason": "budget_exhausted",
			"errors": []string{cmp.Or(f.Message, "Reached maximum budget ($5)")}}), 0)
		return 1
	case "refusal":
		c.begin()
		c.event(c.result(map[string]any{"subtype": "success", "is_error": true, "api_error_status": nil, "stop_reason": "refusal",
			"terminal_reason": "api_error", "result": cmp.Or(f.Message, "API Error: the model is unable to respond to this request")}), 0)
		return 1
	}
	var status any
	message := "API Error: Connection error."
	if f.Status != 0 {
		status = f.Status
		message = "API Error: " + strconv.Itoa(f.Status) + " " + mock(f.Status)
	}
	if f.Status == 429 {
		message = "API Error: Request rejected (429) · mock 429"
	}
	message = cmp.Or(f.Message, message)
	c.say(message)
	c.event(c.result(map[string]any{"subtype": "success", "is_error": true, "api_error_status": status, "result": message,
		"stop_reason": "stop_sequence", "terminal_reason": "api_error"}), 0)
	return 1
}

// result adds what every result event has.
func (c *claude) result(r map[string]any) map[string]any {
	r["type"], r["session_id"], r["num_turns"], r["duration_ms"] = "result", c.session, len(c.tools)+1, 95
	denials := []any{}
	for i, tool := range c.tools {
		if tool.Denied {
			denials = append(denials, map[string]any{"tool_name": tool.Name, "tool_use_id": "toolu_" + strconv.Itoa(i+1),
				"tool_input": tool.input()})
		}
	}
	r["permission_denials"] = denials
	model := map[string]any{}
	if u := c.scenario.Usage; u != nil {
		r["usage"] = u.claude()
		model["inputTokens"], model["outputTokens"] = u.In-u.Cached, u.Out
		model["cacheReadInputTokens"], model["cacheCreationInputTokens"] = u.Cached, 0
	}
	if cost, ok := c.cost(); ok {
		r["total_cost_usd"], model["costUSD"] = cost, cost
	}
	models := map[string]any{}
	if c.scenario.Model != "" {
		models[c.scenario.Model] = model
	}
	r["modelUsage"] = models
	return r
}

// claude is the usage of tokens as Claude Code tells it.
func (u *Usage) claude() map[string]any {
	return map[string]any{"input_tokens": u.In - u.Cached, "output_tokens": u.Out, "cache_read_input_tokens": u.Cached,
		"cache_creation_input_tokens": 0}
}
