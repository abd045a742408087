package policies

import (
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/bundle"
)

// The codes of this package's errors.
const (
	// CodeUnknown: no embedded policy has that name and version. The detail
	// known lists those that exist.
	CodeUnknown errs.Code = "policy-unknown"
	// CodeNotFound: there is nothing at the policy's path.
	CodeNotFound errs.Code = "policy-not-found"
	// CodeUnreadable: something is at the policy's path, but it cannot be read.
	CodeUnreadable errs.Code = "policy-unreadable"
	// CodeInvalid: the policy does not parse, does not compile, breaks the
	// contract of design section 3, or is larger than the limits of Load. The
	// detail problems is a []Problem.
	CodeInvalid errs.Code = "policy-invalid"

	// CodeInvalidInput: the question makes no sense, so it was not asked. It is
	// the caller's mistake and not the policy's.
	CodeInvalidInput errs.Code = "policy-invalid-input"

	// CodeUndefined: the policy comes to no decision for the input.
	CodeUndefined errs.Code = "policy-undefined"
	// CodeFailed: evaluating the policy failed, for example because two of its
	// rules disagree, or the caller cancelled it.
	CodeFailed errs.Code = "policy-failed"
	// CodeTimeout: the policy ran longer than EvalTimeout or the caller's own
	// deadline allow.
	CodeTimeout errs.Code = "policy-timeout"
	// CodeInvalidDecision: what the policy returned is not a next_action and a
	// reason.
	CodeInvalidDecision errs.Code = "policy-invalid-decision"
	// CodeUndeclaredDestination: the policy decided for a destination that it
	// does not declare.
	CodeUndeclaredDestination errs.Code = "policy-undeclared-destination"
	// CodeUnsafeCommit: the policy decided to commit although findings are open
	// or the verification is red.
	CodeUnsafeCommit errs.Code = "policy-unsafe-commit"

	// CodeLockInvalid: versions.lock is not in its own format.
	CodeLockInvalid errs.Code = "policy-lock-invalid"
	// CodeLockMismatch: versions.lock and the embedded policies differ: a
	// released version was changed, added or removed.
	CodeLockMismatch errs.Code = "policy-lock-mismatch"
)

// The codes of bundles' signatures, which the package bundle documents.
const (
	CodeUnsigned         = bundle.CodeUnsigned
	CodeSignatureInvalid = bundle.CodeSignatureInvalid
	CodeSignatureExpired = bundle.CodeSignatureExpired
	CodeKeyUnknown       = bundle.CodeKeyUnknown
	CodeScopeMismatch    = bundle.CodeScopeMismatch
	CodeKeyInvalid       = bundle.CodeKeyInvalid

	// CodeRollback: the policy is older than the one that was in use before.
	CodeRollback errs.Code = "policy-rollback"
)
