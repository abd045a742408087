package e2e

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// messages is the part of a request to Anthropic's Messages API that the tests read.
type messages struct {
	Model    string         `json:"model"`
	System   jsontext.Value `json:"system"`
	Messages []struct {
		Role    string         `json:"role"`
		Content jsontext.Value `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name string `json:"name"`
	} `json:"tools"`
}

// block is a part of a message's content.
type block struct {
	Type    string         `json:"type"`
	Text    string         `json:"text"`
	Content jsontext.Value `json:"content"`
}

// blocks reads a content, which is a string or a list.
func blocks(content jsontext.Value) []block {
	if content.Kind() == '"' {
		var text string
		if json.Unmarshal(content, &text) == nil {
			return []block{{Type: "text", Text: text}}
		}
	}
	var list []block
	if json.Unmarshal(content, &list) != nil {
		return nil
	}
	return list
}

func (m *messages) read() request {
	var r request
	var reported []string
	for _, b := range blocks(m.System) {
		reported = append(reported, b.Text)
	}
	for _, message := range m.Messages {
		if message.Role != "user" {
			continue
		}
		for _, b := range blocks(message.Content) {
			switch b.Type {
			case "text":
				reported = append(reported, b.Text)
			case "tool_result":
				var said []string
				for _, part := range blocks(b.Content) {
					said = append(said, part.Text)
				}
				r.Results = append(r.Results, strings.Join(said, "\n"))
			}
		}
	}
	r.Text = strings.Join(reported, "\n")
	for _, tool := range m.Tools {
		r.Tools = append(r.Tools, tool.Name)
	}
	return r
}

func (m *messages) write(w http.ResponseWriter, n int, a reply) {
	usage := map[string]any{"input_tokens": 100, "output_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
	sent(w, "message_start", map[string]any{"message": map[string]any{"id": fmt.Sprintf("msg_%d", n), "type": "message", "role": "assistant",
		"model": m.Model, "content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage}})
	start, delta, stop := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": a.text}, "end_turn"
	if a.tool != "" {
		input, err := json.Marshal(a.input, json.Deterministic(true))
		if err != nil {
			panic(err)
		}
		start = map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", n), "name": a.tool, "input": map[string]any{}}
		delta, stop = map[string]any{"type": "input_json_delta", "partial_json": string(input)}, "tool_use"
	}
	sent(w, "content_block_start", map[string]any{"index": 0, "content_block": start})
	sent(w, "content_block_delta", map[string]any{"index": 0, "delta": delta})
	sent(w, "content_block_stop", map[string]any{"index": 0})
	sent(w, "message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]any{"output_tokens": 20}})
	sent(w, "message_stop", map[string]any{})
}

func (m *messages) fail(w http.ResponseWriter, status int) { failed(w, status) }

// limit is the answer to the user of a subscription. Claude Code reads its headers, and
// Copilot prints its message.
func (m *messages) limit(w http.ResponseWriter, until time.Time) {
	for name, value := range map[string]string{
		"status": "rejected", "reset": strconv.FormatInt(until.Unix(), 10), "representative-claim": "five_hour", "5h-status": "rejected",
		"5h-reset": strconv.FormatInt(until.Unix(), 10), "overage-status": "rejected", "fallback": "unavailable",
	} {
		w.Header().Set("anthropic-ratelimit-unified-"+name, value)
	}
	writeError(w, http.StatusTooManyRequests, map[string]any{"type": "error", "error": map[string]any{
		"type": "rate_limit_error", "message": fmt.Sprintf("You've hit a rate limit. Please try again in %d seconds.", int(time.Until(until).Seconds()))}})
}
