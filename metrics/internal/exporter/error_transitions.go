package exporter

import (
	"errors"
	"sync"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// errAgain is told when scrapes work after they failed.
func errAgain() error { return errors.New("the metrics can be read again") }

// errorTransitions reports when the metrics cannot be read any more, for another reason, or
// again. It is safe for concurrent use.
type errorTransitions struct {
	warn func(error)

	mu   sync.Mutex
	code errs.Code // of the failure that was told last, "" where nothing fails
}

// see is told of every attempt, with its error or nil.
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
