package main

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

const (
	// maxMessage is the maximum size in bytes of a message, and of all messages that wait
	// for their answers together. A report of the maximum size fits, with JSON's escapes.
	maxMessage = 64 << 20
	// maxWaiting is the maximum number of requests that wait for their answers, and
	// maxRunning of calls that run.
	maxWaiting = 32
	maxRunning = 4
	// endTime is how long the calls that run may still take once the client has closed
	// its end.
	endTime = 2 * time.Second
	// codeBusy is the JSON-RPC code of a refused request, from the range for servers.
	codeBusy = -32000
)

// boundedConnection answers a request with mcp-busy if too many requests wait for their
// answers. It does so before it reads the next message, so that a client that does not read
// the answers cannot fill the memory. It always delivers notifications, since one can cancel
// a call.
type boundedConnection struct {
	mcp.Connection

	mu sync.Mutex
	// waiting has the size in bytes of each request without an answer.
	waiting map[jsonrpc.ID]int
	bytes   int
	// answered has a value if there was an answer since the last look.
	answered chan struct{}
}

// Connect implements mcp.Transport.
func (c *boundedConnection) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// Read implements mcp.Connection. The end of the input would end all calls, so it returns
// io.EOF only after their answers.
func (c *boundedConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		msg, err := c.Connection.Read(ctx)
		if errors.Is(err, io.EOF) {
			c.awaitAnswers(ctx)
		} else if err != nil {
			err = errs.New(errs.MCPMessageInvalid, "the client sent something that is not a message of at most %d bytes: %w", maxMessage, err)
		}
		req, ok := msg.(*jsonrpc.Request)
		if err != nil || !ok || !req.IsCall() || c.admit(req) {
			return msg, err
		}
		if err := c.Connection.Write(ctx, &jsonrpc.Response{ID: req.ID, Error: busy()}); err != nil {
			return nil, errWrite(err)
		}
	}
}

// Write implements mcp.Connection.
func (c *boundedConnection) Write(ctx context.Context, msg jsonrpc.Message) error {
	if answer, ok := msg.(*jsonrpc.Response); ok {
		defer c.remove(answer.ID)
	}
	if err := c.Connection.Write(ctx, msg); err != nil {
		return errWrite(err)
	}
	return nil
}

func errWrite(err error) error {
	return errs.New(errs.OutputFailed, "failed to write to the client: %w", err)
}

// admit reports whether there is room for a request, and counts it.
func (c *boundedConnection) admit(req *jsonrpc.Request) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	id, _ := req.ID.Raw().(string)
	size := len(id) + len(req.Method) + len(req.Params)
	if len(c.waiting) >= maxWaiting || c.bytes+size > maxMessage {
		return false
	}
	c.bytes += size - c.waiting[req.ID] // Requests with the same id get one answer.
	c.waiting[req.ID] = size
	return true
}

func (c *boundedConnection) remove(id jsonrpc.ID) {
	c.mu.Lock()
	c.bytes -= c.waiting[id]
	delete(c.waiting, id)
	c.mu.Unlock()
	select {
	case c.answered <- struct{}{}:
	default:
	}
}

// awaitAnswers returns when no request waits for its answer, or after endTime.
func (c *boundedConnection) awaitAnswers(ctx context.Context) {
	ctx, stop := context.WithTimeout(ctx, endTime)
	defer stop()
	for ctx.Err() == nil && c.isBusy() {
		select {
		case <-c.answered:
		case <-ctx.Done():
		}
	}
}

func (c *boundedConnection) isBusy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiting) > 0
}

// busy returns the error of a refused request.
func busy() error {
	e := cli.Typed(errs.New(errs.MCPBusy, "%d requests, or %d bytes of them, wait for their answers", maxWaiting, maxMessage))
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return &jsonrpc.Error{Code: codeBusy, Message: e.Message, Data: data}
}
