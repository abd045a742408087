package exporter

import (
	"errors"
	"sync"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// errAgain is reported if scrapes work after a failure.
func errAgain() error { return errors.New("the metrics can be read again") }

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
		err = errAgain()
	}
	w.warn(err)
}
