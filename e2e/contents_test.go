package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// contents is the part of a request to Google's Gemini API that the tests read.
type contents struct {
	System   content   `json:"systemInstruction"`
	Contents []content `json:"contents"`
	Tools    []struct {
		FunctionDeclarations []struct {
			Name string `json:"name"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
}

// content is a message.
type content struct {
	Role  string `json:"role"`
	Parts []struct {
		Text             string `json:"text"`
		FunctionResponse *struct {
			Response jsontext.Value `json:"response"`
		} `json:"functionResponse"`
	} `json:"parts"`
}

func (c *contents) read() request {
	var r request
	var reported []string
	for _, message := range append([]content{c.System}, c.Contents...) {
		if message.Role == "model" {
			continue
		}
		for _, part := range message.Parts {
			if part.FunctionResponse != nil {
				r.Results = append(r.Results, string(part.FunctionResponse.Response))
			} else {
				reported = append(reported, part.Text)
			}
		}
	}
	r.Text = strings.Join(reported, "\n")
	for _, list := range c.Tools {
		for _, tool := range list.FunctionDeclarations {
			r.Tools = append(r.Tools, tool.Name)
		}
	}
	return r
}

func (c *contents) write(w http.ResponseWriter, _ int, a reply) {
	part := map[string]any{"text": a.text}
	if a.tool != "" {
		part = map[string]any{"functionCall": map[string]any{"name": a.tool, "args": a.input}}
	}
	text, err := json.Marshal(map[string]any{
		"candidates":    []any{map[string]any{"index": 0, "finishReason": "STOP", "content": map[string]any{"role": "model", "parts": []any{part}}}},
		"usageMetadata": map[string]any{"promptTokenCount": 100, "cachedContentTokenCount": 10, "candidatesTokenCount": 20, "totalTokenCount": 120},
	}, json.Deterministic(true))
	if err != nil {
		panic(err)
	}
	w.Write([]byte("data: " + string(text) + "\n\n"))
}

func (c *contents) fail(w http.ResponseWriter, status int) {
	kind := map[int]string{401: "UNAUTHENTICATED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 529: "UNAVAILABLE"}[status]
	text, err := json.Marshal(map[string]any{"error": map[string]any{"code": status, "message": mocked(status), "status": kind}})
	if err != nil {
		panic(err)
	}
	w.Write(text)
}

func (c *contents) limit(w http.ResponseWriter, until time.Time) {
	writeError(w, http.StatusTooManyRequests, map[string]any{"error": map[string]any{
		"code": http.StatusTooManyRequests, "status": "RESOURCE_EXHAUSTED",
		"message": fmt.Sprintf("You exceeded your current quota. Please retry in %ds.", int(time.Until(until).Seconds()))}})
}
