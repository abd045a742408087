package exporter

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// quietPeriod is the minimum time between two lines that Write reports.
const quietPeriod = time.Second

// warnings reports to the operator, one warning at a time. It is safe for concurrent use.
type warnings struct {
	warn func(error)

	mu   sync.Mutex
	last time.Time // of the last reported line
	left int       // lines that were dropped since then
	code errs.Code // of the current failure, or ""
}

// Write reports a line of the server's log, such as about a client that does not speak TLS.
// Clients cause such lines, so it reports at most one per quietPeriod; the next one says how
// many were dropped.
func (w *warnings) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if now.Sub(w.last) < quietPeriod {
		w.left++
		return len(line), nil
	}
	w.last = now
	text := strings.TrimSpace(string(line))
	if w.left > 0 {
		text += fmt.Sprintf(" (and %d more lines)", w.left)
		w.left = 0
	}
	w.warn(errors.New(text))
	return len(line), nil
}

// update takes the error, or nil, of every attempt to gather. It warns if gathering begins to
// fail, fails for another reason, or works again.
func (w *warnings) update(err error) {
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
