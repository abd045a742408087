package fakeagent

import "cmp"

// copilot is GitHub Copilot CLI: a stream of events with their data in one member.
type copilot struct{ speaker }

func (c *copilot) emit(kind string, data map[string]any, cut int) {
	c.event(map[string]any{"type": kind, "data": data, "timestamp": "2026-11-21T05:57:37.099Z"}, cut)
}

func (c *copilot) begin() {
	if !c.began {
		c.began = true
		c.emit("session.tools_updated", c.withModel(map[string]any{}), 0)
	}
}

func (c *copilot) message(text string, requests []any, cut int) {
	c.begin()
	c.emit("assistant.message", c.withModel(map[string]any{"content": text, "toolRequests": requests}), cut)
}

func (c *copilot) say(text string) { c.message(text, []any{}, 0) }

func (c *copilot) use(tool Tool) {
	tool = c.took(tool)
	id := c.number("call_")
	c.message("", []any{map[string]any{"toolCallId": id, "name": tool.Name, "arguments": tool.input(), "type": "function"}}, 0)
	c.emit("tool.execution_start", map[string]any{"toolCallId": id, "toolName": tool.Name, "arguments": tool.input()}, 0)
	done := map[string]any{"toolCallId": id, "success": !tool.Denied}
	if tool.Denied {
		done["error"] = map[string]any{"message": "Permission denied.", "code": "denied"}
	}
	c.emit("tool.execution_complete", done, 0)
}

func (c *copilot) beat() { c.emit("assistant.turn_start", map[string]any{"turnId": "0"}, 0) }

func (c *copilot) final(text string, cut int) {
	c.message(text, []any{}, cut)
	c.end(0)
}

func (c *copilot) fail(f Failure) int {
	if f.Kind == "usage" {
		return c.usageError(f, 1)
	}
	c.begin()
	data := map[string]any{"errorType": "query", "message": cmp.Or(f.Message, mock(f.Status))}
	if f.Status != 0 {
		data["statusCode"] = f.Status
	}
	c.emit("session.error", data, 0)
	c.end(1)
	return 1
}

func (c *copilot) end(code int) {
	c.event(map[string]any{"type": "result", "sessionId": c.session, "exitCode": code,
		"usage": map[string]any{"premiumRequests": 0}}, 0)
}
