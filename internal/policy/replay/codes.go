package replay

import "github.com/switchyard-dev/switchyard/internal/errs"

// The codes of this package's errors. A candidate that comes to no decision is
// not among them: that is a flip.
const (
	// CodeRecord: a recorded round contradicts itself, or is out of order, so that
	// nothing follows from it. Details: task, event.
	CodeRecord errs.Code = "replay-record-invalid"
	// CodeTooVaried: the rounds name more policies or destinations than a report
	// can list. Detail: limit.
	CodeTooVaried errs.Code = "replay-too-varied"
)
