package check

import "github.com/switchyard-dev/switchyard/internal/errs"

// CodeWaiverInvalid: a waiver is for no invariant, for one that no decision record
// can waive, or without an ADR or a reason.
const CodeWaiverInvalid errs.Code = "policy-waiver-invalid"
