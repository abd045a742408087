// Package errs has the error type of Switchyard: a stable code that scripts may match, a
// sentence for people, and the evidence.
package errs

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"syscall"
)

// Code names a kind of failure. Codes are part of the command line's contract: once
// released, a code is never renamed or reused.
type Code string

// Error is a failure with a stable code. Its fields are read-only once it has
// been returned.
type Error struct {
	Code Code `json:"code"`
	// Message is one lower-case sentence without a full stop.
	Message string `json:"message"`
	// Hint says how to fix it. It is usually empty, because the command line has a
	// hint for every code. A plugin may bring its own.
	Hint string `json:"hint"`
	// Details holds the evidence under stable snake_case names.
	Details map[string]any `json:"details"`

	cause error
}

// New returns an Error with a formatted message. It wraps the errors of all %w verbs.
func New(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	cause := errors.Unwrap(err)
	if _, several := err.(interface{ Unwrap() []error }); several {
		cause = err
	}
	message := err.Error()
	if _, system := errors.AsType[syscall.Errno](err); system {
		message = strings.TrimSuffix(message, ".") // Windows ends the texts of errors with one.
	}
	return &Error{Code: code, Message: message, cause: cause}
}

// With returns a copy of the error with another detail.
func (e *Error) With(name string, value any) *Error {
	c := *e
	c.Details = maps.Clone(e.Details)
	if c.Details == nil {
		c.Details = make(map[string]any)
	}
	c.Details[name] = value
	return &c
}

// With adds a detail to an error with a code. Of an error that wraps one with a code, it
// returns only that one. It returns other errors unchanged.
func With(err error, name string, value any) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.With(name, value)
	}
	return err
}

// WithHint returns a copy of the error with a hint.
func (e *Error) WithHint(hint string) *Error {
	c := *e
	c.Hint = hint
	return &c
}

// Because returns a copy of the error that wraps cause. The message does not change.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// Error returns the message alone; the code is for programs.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the underlying error, or nil.
func (e *Error) Unwrap() error { return e.cause }

// Is reports whether target is an *Error with the same code, so that
// errors.Is(err, &errs.Error{Code: c}) matches by code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// CodeOf returns the code of the first *Error in err's tree, or "".
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}
