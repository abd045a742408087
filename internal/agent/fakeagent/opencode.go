package fakeagent

import (
	"cmp"
	"strconv"
)

// opencode is opencode: a stream of the parts of messages.
type opencode struct{ speaker }

func (o *opencode) part(kind string, part map[string]any, cut int) {
	part["sessionID"] = o.session
	o.event(map[string]any{"type": kind, "timestamp": 1795239751481, "sessionID": o.session, "part": part}, cut)
}

func (o *opencode) begin() {
	if !o.began {
		o.began = true
		o.part("step_start", map[string]any{"type": "step-start"}, 0)
	}
}

func (o *opencode) say(text string) {
	o.begin()
	o.part("text", map[string]any{"type": "text", "text": text}, 0)
}

func (o *opencode) use(tool Tool) {
	o.begin()
	tool = o.took(tool)
	state := map[string]any{"status": "completed", "input": tool.input(), "output": "done"}
	if tool.Denied {
		state = map[string]any{"status": "error", "input": tool.input(),
			"error": "The user rejected permission to use this specific tool call."}
	}
	o.part("tool_use", map[string]any{"type": "tool", "tool": tool.Name, "callID": o.number("call_"), "state": state}, 0)
}

func (o *opencode) beat() { o.part("step_start", map[string]any{"type": "step-start"}, 0) }

func (o *opencode) final(text string, cut int) {
	o.begin()
	o.part("text", map[string]any{"type": "text", "text": text}, cut)
	finish := map[string]any{"type": "step-finish", "reason": "stop"}
	if u := o.scenario.Usage; u != nil {
		finish["tokens"] = map[string]any{"total": u.In + u.Out, "input": u.In - u.Cached, "output": u.Out, "reasoning": 0,
			"cache": map[string]any{"read": u.Cached, "write": 0}}
	}
	if cost, ok := o.cost(); ok {
		finish["cost"] = cost
	}
	o.part("step_finish", finish, 0)
}

func (o *opencode) fail(f Failure) int {
	if f.Kind == "usage" {
		return o.usageError(f, 1)
	}
	data := map[string]any{"message": cmp.Or(f.Message, mock(f.Status)), "isRetryable": f.Status == 429 || f.Status >= 500}
	if f.Status != 0 {
		data["statusCode"] = f.Status
	}
	if f.RetryAfter > 0 {
		data["responseHeaders"] = map[string]any{"retry-after": strconv.Itoa(f.RetryAfter)}
	}
	o.event(map[string]any{"type": "error", "timestamp": 1795239753333, "sessionID": o.session,
		"error": map[string]any{"name": "APIError", "data": data}}, 0)
	return 1
}
