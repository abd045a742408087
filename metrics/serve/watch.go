package serve

import (
	"errors"
	"sync"

	"github.com/switchyard-dev/switchyard/host/fault"
)

// errAgain is told when scrapes work after they failed.
func errAgain() error { return errors.New("the metrics can be read again") }

// watch tells when the metrics cannot be read any more, for another reason, or
// again. It is safe for concurrent use.
type watch struct {
	warn func(error)

	mu     sync.Mutex
	failed bool
	code   fault.Code
}

// see is told of every attempt, with its error or nil.
func (w *watch) see(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	failed, code := err != nil, fault.CodeOf(err)
	if failed == w.failed && code == w.code {
		return
	}
	w.failed, w.code = failed, code
	if !failed {
		err = errAgain()
	}
	w.warn(err)
}
