package fakeagent

import (
	"cmp"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// gemini is Gemini CLI: one object at the end, or a stream of events. Its errors
// go to standard error.
type gemini struct {
	speaker
	stream bool
}

func (g *gemini) begin() {
	if g.began || !g.stream {
		return
	}
	g.began = true
	g.event(g.withModel(map[string]any{"type": "init", "session_id": g.session}), 0)
}

func (g *gemini) say(text string) {
	g.begin()
	if g.stream {
		g.event(map[string]any{"type": "message", "role": "assistant", "content": text, "delta": true}, 0)
	}
}

func (g *gemini) use(tool Tool) {
	g.begin()
	tool = g.took(tool)
	if !g.stream {
		return
	}
	result := map[string]any{"type": "tool_result", "tool_id": g.number("tool_"), "status": "success"}
	if tool.Denied {
		result["status"] = "error"
		result["error"] = map[string]any{"type": "policy_violation", "message": "Tool execution denied by policy."}
	}
	g.event(map[string]any{"type": "tool_use", "tool_name": tool.Name, "tool_id": g.number("tool_"), "parameters": tool.input()}, 0)
	g.event(result, 0)
}

// beat is a line of the log, since there is no event for it.
func (g *gemini) beat() { fmt.Fprintln(g.err, "Attempt 1 failed. Retrying with backoff...") }

func (g *gemini) final(text string, cut int) {
	g.begin()
	if g.stream {
		g.say(text)
		g.event(map[string]any{"type": "result", "status": "success", "stats": g.streamStats()}, cut)
		return
	}
	object := encode(map[string]any{"session_id": g.session, "response": text, "stats": g.stats()}, jsontext.Multiline(true))
	if cut > 0 && cut < len(object) {
		object = object[:cut]
	}
	g.out.Write(object)
}

func (g *gemini) stats() map[string]any {
	model := map[string]any{}
	if u := g.scenario.Usage; u != nil {
		model["tokens"] = map[string]any{"prompt": u.In, "cached": u.Cached, "candidates": u.Out, "thoughts": 0, "total": u.In + u.Out}
	}
	models := map[string]any{}
	if g.scenario.Model != "" {
		models[g.scenario.Model] = model
	}
	byName := map[string]any{}
	for _, tool := range g.tools {
		counts, _ := byName[tool.Name].(map[string]any)
		if counts == nil {
			counts = map[string]any{"count": 0, "success": 0, "fail": 0}
			byName[tool.Name] = counts
		}
		counts["count"] = counts["count"].(int) + 1
		way := "success"
		if tool.Denied {
			way = "fail"
		}
		counts[way] = counts[way].(int) + 1
	}
	return map[string]any{"models": models, "tools": map[string]any{"totalCalls": len(g.tools),
		"totalSuccess": len(g.tools) - g.failed(), "totalFail": g.failed(), "byName": byName}}
}

func (g *gemini) streamStats() map[string]any {
	stats := map[string]any{"tool_calls": len(g.tools)}
	if u := g.scenario.Usage; u != nil {
		tokens := map[string]any{"total_tokens": u.In + u.Out, "input_tokens": u.In, "output_tokens": u.Out, "cached": u.Cached}
		for name, count := range tokens {
			stats[name] = count
		}
		if g.scenario.Model != "" {
			stats["models"] = map[string]any{g.scenario.Model: tokens}
		}
	}
	return stats
}

// fail ends with the status as the code, of which the system keeps eight bits.
func (g *gemini) fail(f Failure) int {
	if f.Kind == "usage" {
		return g.usageError(f, 1)
	}
	reason := map[string]any{"type": "Error", "message": cmp.Or(f.Message, mock(f.Status))}
	code := 1
	if f.Status != 0 {
		reason["code"] = f.Status
		code = f.Status & 0xff
	}
	fmt.Fprintf(g.err, "Attempt 1 failed with status %d. Retrying with backoff...\n    at async main (gemini.js:1:1) {\n  status: %d\n}\n",
		f.Status, f.Status)
	g.err.Write(append(encode(map[string]any{"session_id": g.session, "error": reason}, jsontext.Multiline(true)), '\n'))
	return code
}
