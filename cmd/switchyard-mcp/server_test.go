package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// fakeEngine is an engine whose calls take until delay has passed or the context ends.
type fakeEngine struct {
	engine // Calls of other methods panic.
	delay  time.Duration

	running, most, canceled atomic.Int32
	started                 chan struct{}
}

func (e *fakeEngine) Tasks(ctx context.Context) ([]host.TaskStatus, error) {
	running := e.running.Add(1)
	defer e.running.Add(-1)
	for most := e.most.Load(); running > most && !e.most.CompareAndSwap(most, running); most = e.most.Load() {
	}
	select {
	case e.started <- struct{}{}:
	default:
	}
	select {
	case <-time.After(e.delay):
		return []host.TaskStatus{}, nil
	case <-ctx.Done():
		e.canceled.Add(1)
		return nil, ctx.Err()
	}
}

func (e *fakeEngine) Adopted(context.Context) (*api.Adopted, error) { return nil, nil }

// start serves the engine on a transport, and returns a function that waits for the end.
func start(ctx context.Context, e *fakeEngine, transport mcp.Transport) (wait func() error) {
	e.started = make(chan struct{}, 1)
	s := &server{engine: e, policies: e, slots: make(chan struct{}, maxRunning)}
	ended := make(chan error, 1)
	go func() { ended <- s.serve(ctx, false, transport) }()
	return func() error {
		select {
		case err := <-ended:
			return err
		case <-time.After(time.Minute):
			return errors.New("the server does not end")
		}
	}
}

// connect connects a client to the engine. The session ends with the test.
func connect(t *testing.T, e *fakeEngine) *mcp.ClientSession {
	t.Helper()
	ours, theirs := mcp.NewInMemoryTransports()
	wait := start(context.WithoutCancel(t.Context()), e, ours) // The context of a test ends before its cleanup.
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
		// A cancelled call may still be answered, but a closed session reads no answers.
		if err := wait(); err != nil && errs.CodeOf(err) != errs.OutputFailed {
			t.Error(err)
		}
	})
	return session
}

// callStatus calls a tool that takes as long as the engine.
func callStatus(ctx context.Context, session *mcp.ClientSession) (*mcp.CallToolResult, error) {
	return session.CallTool(ctx, &mcp.CallToolParams{Name: "status"})
}

func TestFlood(t *testing.T) {
	e := &fakeEngine{delay: 5 * time.Millisecond}
	flood(t, connect(t, e))
	if most := e.most.Load(); most > maxRunning {
		t.Errorf("%d calls ran at once", most)
	}
}

// flood sends 1,000 calls at once. Each must be answered, or refused as mcp-busy.
func flood(t *testing.T, session *mcp.ClientSession) {
	t.Helper()
	const calls = 1000
	var answered, refused atomic.Int32
	var all sync.WaitGroup
	for range calls {
		all.Go(func() {
			r, err := callStatus(t.Context(), session)
			var refusal *jsonrpc.Error
			switch {
			case err == nil && !r.IsError:
				answered.Add(1)
			case errors.As(err, &refusal) && refusal.Code == codeBusy:
				var data host.Error
				if err := json.Unmarshal(refusal.Data, &data); err != nil || data.Code != errs.MCPBusy || data.Hint == "" {
					t.Errorf("refused with %s (%v)", refusal.Data, err)
				}
				refused.Add(1)
			default:
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
	all.Wait()
	t.Logf("%d calls were answered and %d refused", answered.Load(), refused.Load())
	if n := answered.Load(); n < maxRunning || n+refused.Load() != calls {
		t.Errorf("that is not %d in all", calls)
	}
	if _, err := callStatus(t.Context(), session); err != nil {
		t.Errorf("a call after the flood: %v", err)
	}
}

const initialize = `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`

// pipes starts a server for a client that writes to in and reads from out.
func pipes(t *testing.T, e *fakeEngine) (in io.WriteCloser, out io.ReadCloser, wait func() error) {
	t.Helper()
	theirs, in := io.Pipe()
	out, ours := io.Pipe()
	return in, out, start(t.Context(), e, &mcp.IOTransport{Reader: theirs, Writer: ours, MaxLineLength: maxMessage})
}

// TestFloodOfADeafClient tests that the server stops reading if the client does not read
// the answers.
func TestFloodOfADeafClient(t *testing.T) {
	e := &fakeEngine{delay: time.Millisecond}
	in, out, wait := pipes(t, e)
	var written atomic.Int32
	var flood sync.WaitGroup
	flood.Go(func() {
		for id := 0; ; id++ {
			if _, err := fmt.Fprintf(in, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}\n", id); err != nil {
				return
			}
			written.Add(1)
		}
	})
	before := int32(-1)
	for n := written.Load(); n != before; n = written.Load() {
		before = n
		time.Sleep(200 * time.Millisecond)
	}
	if before > 4*maxWaiting {
		t.Errorf("the server read %d requests without a reader of their answers", before)
	}
	out.Close()
	if err := wait(); errs.CodeOf(err) != errs.OutputFailed {
		t.Errorf("%v, want %s", err, errs.OutputFailed)
	}
	in.Close()
	flood.Wait()
}

// TestLargeRequests tests that requests are refused by their size too, whatever part of
// them is large.
func TestLargeRequests(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	for part, call := range map[string]func(n int, large string) string{
		"arguments": func(n int, large string) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"status","arguments":{},"_meta":{"x":"%s"}}}`, n, large)
		},
		"id": func(n int, large string) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":"%d%s","method":"tools/call","params":{"name":"status","arguments":{}}}`, n, large)
		},
	} {
		t.Run(part, func(t *testing.T) { testLargeRequests(t, call) })
	}
}

func testLargeRequests(t *testing.T, call func(n int, large string) string) {
	e := &fakeEngine{delay: time.Minute}
	in, out, wait := pipes(t, e)
	lines := bufio.NewReader(out)
	var asked sync.WaitGroup
	asked.Go(func() {
		fmt.Fprintln(in, initialize)
		for id := range 3 {
			fmt.Fprintln(in, call(id, strings.Repeat("x", maxMessage*2/5)))
		}
	})
	if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, `"id":"i"`) {
		t.Fatalf("%s (%v)", line, err)
	}
	line, err := lines.ReadString('\n')
	var refused struct {
		ID any `json:"id"`
	}
	if decodeErr := json.Unmarshal([]byte(line), &refused); err != nil || decodeErr != nil {
		t.Fatal(err, decodeErr)
	}
	if !strings.HasPrefix(fmt.Sprint(refused.ID), "2") || !strings.Contains(line, `"mcp-busy"`) {
		t.Errorf("%.200s: want a refusal of the third call", line)
	}
	asked.Wait()
	// The third call may be refused before the first two have reached the engine.
	for e.running.Load() < 2 && t.Context().Err() == nil {
		time.Sleep(time.Millisecond)
	}
	in.Close()
	go io.Copy(io.Discard, out)
	if err := wait(); err != nil {
		t.Error(err)
	}
	if n := e.canceled.Load(); n != 2 {
		t.Errorf("%d calls were cancelled at the end, want 2", n)
	}
}

// recorder is an engine that records answers at once.
type recorder struct{ fakeEngine }

func (e *recorder) Answer(context.Context, string, host.AnswerRequest) (host.TaskResult, error) {
	return host.TaskResult{}, nil
}

// TestAnswersDoNotWaitForMetrics tests that a call is answered while an update of the metrics
// hangs, also if the client has closed its end, and that the server ends after a last update.
func TestAnswersDoNotWaitForMetrics(t *testing.T) {
	theirs, in := io.Pipe()
	out, ours := io.Pipe()
	var updates atomic.Int32
	hangs := make(chan struct{})
	s := &server{engine: &recorder{}, slots: make(chan struct{}, maxRunning), publish: func(context.Context) {
		updates.Add(1)
		<-hangs
	}}
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		ended <- s.serve(ctx, true, &mcp.IOTransport{Reader: theirs, Writer: ours, MaxLineLength: maxMessage})
	}()
	lines := bufio.NewReader(out)
	ask := func(request string) {
		t.Helper()
		if _, err := fmt.Fprintln(in, request); err != nil {
			t.Fatal(err)
		}
		if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, `"result"`) {
			t.Fatalf("%s (%v)", line, err)
		}
	}
	ask(initialize)
	for id := range 2 * maxRunning {
		ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"answer","arguments":{"task":"T","text":"x"}}}`, id))
	}
	in.Close()
	go io.Copy(io.Discard, out)
	cancel()
	select {
	case err := <-ended:
		t.Errorf("the server ends during an update: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(hangs)
	<-ended
	if n := updates.Load(); n != 2 {
		t.Errorf("%d updates, want 2", n)
	}
}

func TestCancel(t *testing.T) {
	e := &fakeEngine{delay: time.Hour}
	session := connect(t, e)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := callStatus(ctx, session)
		ended <- err
	}()
	<-e.started
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the call ended with %v", err)
	}
	deadline := time.Now().Add(10 * time.Second) // It takes a millisecond, unless the machine is busy.
	for e.running.Load() > 0 && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	if e.canceled.Load() != 1 {
		t.Error("the call goes on after it was cancelled")
	}
}

// TestAnswerOfCancelledCall tests that a cancelled call is answered as one, not as a failed
// tool.
func TestAnswerOfCancelledCall(t *testing.T) {
	e := &fakeEngine{delay: time.Hour}
	in, out, wait := pipes(t, e)
	lines := bufio.NewScanner(out)
	go func() {
		fmt.Fprintln(in, initialize)
		fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"status"}}`)
		<-e.started
		fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	}()
	lines.Scan() // The answer to initialize.
	if !lines.Scan() || !strings.Contains(lines.Text(), `"id":1,"error":{`) || !strings.Contains(lines.Text(), "context canceled") {
		t.Errorf("%s (%v)", lines.Text(), lines.Err())
	}
	in.Close()
	if err := wait(); err != nil {
		t.Error(err)
	}
}

func TestUsage(t *testing.T) {
	var stderr strings.Builder
	code := run(t.Context(), []string{"--bad"}, cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: &stderr})
	if want := "\nhint: switchyard-mcp --help shows what it takes\n"; code != 2 || !strings.HasSuffix(stderr.String(), want) {
		t.Errorf("exit status %d: %s, want%s", code, &stderr, want)
	}
}

// TestEndOfServer tests that a signal ends the calls.
func TestEndOfServer(t *testing.T) {
	e := &fakeEngine{delay: time.Hour}
	ours, theirs := mcp.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(t.Context())
	wait := start(ctx, e, ours)
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	go func() {
		<-e.started
		cancel()
	}()
	if _, err := callStatus(t.Context(), session); err == nil {
		t.Error("the call succeeded")
	}
	if err := wait(); !errors.Is(err, context.Canceled) || e.canceled.Load() != 1 {
		t.Errorf("the server ended with %v, and %d calls were cancelled", err, e.canceled.Load())
	}
}
