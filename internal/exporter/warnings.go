package exporter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// quietPeriod is the minimum time between two warnings.
const quietPeriod = time.Second

// rateLimitedHandler reports warnings that the server logs, such as a
// client without TLS or a web configuration that became invalid. Clients cause such
// lines, so it reports at most one per quietPeriod; the next one says how many were
// dropped.
type rateLimitedHandler struct {
	warn func(error)

	mu   sync.Mutex
	last time.Time
	left int
}

// Enabled drops levels below warnings.
func (c *rateLimitedHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn
}

// Handle reports a record.
func (c *rateLimitedHandler) Handle(_ context.Context, r slog.Record) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if now.Sub(c.last) < quietPeriod {
		c.left++
		return nil
	}
	c.last = now
	var b strings.Builder
	b.WriteString(r.Message)
	r.Attrs(func(a slog.Attr) bool {
		fmt.Fprintf(&b, ", %s: %s", a.Key, a.Value)
		return true
	})
	if c.left > 0 {
		fmt.Fprintf(&b, " (and %d more lines)", c.left)
		c.left = 0
	}
	c.warn(errors.New(b.String()))
	return nil
}

// WithAttrs and WithGroup do nothing: the server does not use them.
func (c *rateLimitedHandler) WithAttrs([]slog.Attr) slog.Handler { return c }

// WithGroup: see WithAttrs.
func (c *rateLimitedHandler) WithGroup(string) slog.Handler { return c }

// errorTransitions warns if gathering begins to fail, fails for another reason, or works
// again. It is safe for concurrent use.
type errorTransitions struct {
	warn func(error)

	mu   sync.Mutex
	code errs.Code // of the last reported failure, "" if nothing fails
}

// update takes the error, or nil, of every attempt.
func (w *errorTransitions) update(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var code errs.Code
	if err != nil {
		code = codeOf(err)
	}
	if code == w.code {
		return
	}
	w.code = code
	if err == nil {
		err = errors.New("the metrics can be read again")
	}
	w.warn(err)
}
