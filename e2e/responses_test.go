package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// responses is the part of a request to OpenAI's Responses API that the tests read.
type responses struct {
	Model        string `json:"model"`
	Instructions string `json:"instructions"`
	Input        []struct {
		Type    string         `json:"type"`
		Role    string         `json:"role"`
		Content jsontext.Value `json:"content"`
		Output  jsontext.Value `json:"output"`
	} `json:"input"`
	Tools []struct {
		Type string `json:"type"`
		Name string `json:"name"`
	} `json:"tools"`
}

func (m *responses) read() request {
	var r request
	reported := []string{m.Instructions}
	for _, item := range m.Input {
		switch {
		case item.Type == "message" && item.Role == "user":
			for _, b := range blocks(item.Content) {
				reported = append(reported, b.Text)
			}
		case strings.HasSuffix(item.Type, "_call_output"):
			r.Results = append(r.Results, string(item.Output))
		}
	}
	r.Text = strings.Join(reported, "\n")
	for _, tool := range m.Tools {
		name := tool.Name
		if name == "" {
			name = tool.Type
		}
		r.Tools = append(r.Tools, name)
	}
	return r
}

func (m *responses) write(w http.ResponseWriter, n int, a reply) {
	id := fmt.Sprintf("resp_%d", n)
	sent(w, "response.created", map[string]any{"response": map[string]any{"id": id}})
	item := map[string]any{"type": "message", "id": fmt.Sprintf("msg_%d", n), "role": "assistant",
		"content": []any{map[string]any{"type": "output_text", "text": a.text}}}
	if a.tool != "" {
		input, err := json.Marshal(a.input, json.Deterministic(true))
		if err != nil {
			panic(err)
		}
		item = map[string]any{"type": "function_call", "id": fmt.Sprintf("fc_%d", n), "call_id": fmt.Sprintf("call_%d", n), "name": a.tool,
			"arguments": string(input)}
	}
	sent(w, "response.output_item.done", map[string]any{"output_index": 0, "item": item})
	sent(w, "response.completed", map[string]any{"response": map[string]any{"id": id, "usage": map[string]any{"input_tokens": 100,
		"input_tokens_details": map[string]any{"cached_tokens": 10}, "output_tokens": 20,
		"output_tokens_details": map[string]any{"reasoning_tokens": 5}, "total_tokens": 120}}})
}

func (m *responses) fail(w http.ResponseWriter, status int) { failed(w, status) }

func (m *responses) limit(w http.ResponseWriter, until time.Time) {
	writeError(w, http.StatusTooManyRequests, map[string]any{"error": map[string]any{
		"type": "usage_limit_reached", "message": "The usage limit has been reached", "plan_type": "plus", "resets_at": until.Unix()}})
}
