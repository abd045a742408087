package proof

import "github.com/switchyard-dev/switchyard/host/fault"

// CodeWaiverInvalid: a waiver is for no invariant, for one that no decision record
// can waive, or without an ADR or a reason.
const CodeWaiverInvalid fault.Code = "policy-waiver-invalid"
