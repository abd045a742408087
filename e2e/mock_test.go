package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// request is a request to a model, independent of the API.
type request struct {
	// N counts the requests of the scenario from 1.
	N int
	// Text is the agent's whole prompt and its context.
	Text string
	// Results are the results of the tools that the model has used so far.
	Results []string
	// Tools are the names of the available tools.
	Tools []string
}

// reply is the model's answer: the use of a tool, or a text.
type reply struct {
	text string
	tool string
	// input is the tool's input.
	input map[string]any
	// status is an error instead, unless it is 0.
	status int
	// until is a usage limit that ends then, unless it is the zero time.
	until time.Time
	// stall never answers, and drop closes the connection in the middle of an answer.
	stall, drop bool
}

// scenario is a model for one test.
type scenario func(request) reply

// mock serves the APIs of the CLIs. A scenario's base URL is url(name).
type mock struct {
	server *httptest.Server
	// over ends stalled requests.
	over chan struct{}

	mu        sync.Mutex
	scenarios map[string]scenario
	counts    map[string]int
	// stray are requests without a known scenario or API.
	stray []string
}

// newMock starts a server that ends with the test. Stray requests fail it.
func newMock(t *testing.T) *mock {
	t.Helper()
	m := &mock{over: make(chan struct{}), scenarios: map[string]scenario{}, counts: map[string]int{}}
	m.server = httptest.NewServer(m)
	t.Cleanup(func() {
		close(m.over)
		m.server.Close()
		m.mu.Lock()
		defer m.mu.Unlock()
		if len(m.stray) > 0 {
			t.Errorf("the model's API was also asked for %s", strings.Join(m.stray, ", "))
		}
	})
	return m
}

// url registers a scenario and returns its base URL.
func (m *mock) url(name string, s scenario) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.scenarios[name] = s
	return m.server.URL + "/s/" + name
}

// asked returns the number of requests to a scenario.
func (m *mock) asked(name string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.counts[name]
}

// next returns the scenario of a path and counts the request.
func (m *mock) next(path string) (s scenario, api string, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	name, api, _ := strings.Cut(strings.TrimPrefix(path, "/s/"), "/")
	s = m.scenarios[name]
	if s != nil && frontOf(api) != nil {
		m.counts[name]++
	}
	return s, api, m.counts[name]
}

// front is one API of a model.
type front interface {
	// read returns the decoded request.
	read() request
	write(w http.ResponseWriter, n int, a reply)
	fail(w http.ResponseWriter, status int)
	// limit writes the error of a usage limit.
	limit(w http.ResponseWriter, until time.Time)
}

// frontOf returns the API at a path below a base URL, or nil.
func frontOf(api string) front {
	switch {
	case api == "v1/messages":
		return new(messages)
	case api == "v1/responses":
		return new(responses)
	case strings.HasPrefix(api, "v1beta/models/") && strings.HasSuffix(api, ":streamGenerateContent"):
		return new(contents)
	}
	return nil
}

func (m *mock) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s, api, n := m.next(r.URL.Path)
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	if err != nil {
		return // The agent has ended.
	}
	front := frontOf(api)
	switch {
	case s != nil && front != nil && r.Method == http.MethodPost:
	case s != nil && r.Method == http.MethodHead:
		return // Claude Code checks whether the server is up.
	default:
		m.mu.Lock()
		m.stray = append(m.stray, r.Method+" "+r.Host+r.URL.Path)
		m.mu.Unlock()
		http.NotFound(w, r)
		return
	}
	if err := json.Unmarshal(body, front); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	asked := front.read()
	asked.N = n
	switch answer := s(asked); {
	case answer.stall:
		select {
		case <-m.over:
		case <-r.Context().Done():
		}
	case answer.drop:
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "event: ping\ndata: {\"type\":\"ping\"}\n\n")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	case answer.status != 0:
		// No CLI waits for long if its retries can be limited.
		w.Header().Set("Retry-After", "1")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(answer.status)
		front.fail(w, answer.status)
	case !answer.until.IsZero():
		w.Header().Set("Retry-After", strconv.Itoa(int(time.Until(answer.until).Seconds())))
		w.Header().Set("Content-Type", "application/json")
		front.limit(w, answer.until)
	default:
		w.Header().Set("Content-Type", "text/event-stream")
		front.write(w, n, answer)
	}
}

// sent writes one event of a stream.
func sent(w io.Writer, event string, data map[string]any) {
	data["type"] = event
	text, err := json.Marshal(data, json.Deterministic(true))
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, text)
}

// mocked returns the message of an error.
func mocked(status int) string { return fmt.Sprintf("mock %d", status) }

// failed writes an error in the format of Anthropic and OpenAI.
func failed(w io.Writer, status int) {
	kind := map[int]string{401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error", 529: "overloaded_error"}[status]
	text, err := json.Marshal(map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": mocked(status)}})
	if err != nil {
		panic(err)
	}
	w.Write(text)
}

// writeError writes a JSON object as the body of an error.
func writeError(w http.ResponseWriter, status int, body map[string]any) {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	w.WriteHeader(status)
	w.Write(text)
}
