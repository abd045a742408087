package bundle

import "github.com/switchyard-dev/switchyard/internal/errs"

// The codes of this package's errors.
const (
	// CodeInvalid: what was read is not a bundle, not one for us, or larger than the
	// limits; or what was to be written would not be one. The detail file names the
	// file at fault, where one is.
	CodeInvalid errs.Code = "policy-invalid"

	// CodeUnsigned: keys are trusted, so a signature is asked for, and there is
	// none.
	CodeUnsigned errs.Code = "policy-unsigned"
	// CodeSignatureInvalid: the signature is malformed, was not made by the key that
	// it names, or is not over exactly the files that the bundle holds.
	CodeSignatureInvalid errs.Code = "policy-signature-invalid"
	// CodeSignatureExpired: the signature is good, but its time is over or has not
	// begun. The detail is expires or not_before.
	CodeSignatureExpired errs.Code = "policy-signature-expired"
	// CodeKeyUnknown: the signature names a key that is not trusted. The details are
	// key_id and known.
	CodeKeyUnknown errs.Code = "policy-key-unknown"
	// CodeScopeMismatch: the signature is good, but for another purpose than the key
	// is trusted for. The details are want, the key's scope, and got, the
	// signature's.
	CodeScopeMismatch errs.Code = "policy-scope-mismatch"
	// CodeKeyInvalid: a key of ours cannot be used. The detail key_id names it; the
	// key itself is never shown.
	CodeKeyInvalid errs.Code = "policy-key-invalid"
)
