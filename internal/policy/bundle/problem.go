package bundle

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// maxShown bounds the text of a bundle in a message, in code points.
const maxShown = 200

// Problem is the cause of every policy-invalid: the defect of a bundle and its file, for
// callers that name the bundle themselves.
type Problem struct {
	// File is the defective file, escaped for display, or "" if it is not about one file.
	File string
	// Message describes the defect of the file, or of the bundle, and calls it "it".
	Message string

	cause error
}

// Error returns the message, prefixed with the file.
func (d Problem) Error() string {
	if d.File == "" {
		return d.Message
	}
	return d.File + ": " + d.Message
}

// Unwrap returns the error of the archive's reader, or nil.
func (d Problem) Unwrap() error { return d.cause }

// malformed returns the error for a whole bundle.
func malformed(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return invalid(Problem{Message: textutil.Clip(oneLine(err.Error()), maxShown), cause: err})
}

// malformedFile returns the error for one file of a bundle.
func malformedFile(name, format string, args ...any) error {
	if shown := strconv.QuoteToGraphic(name); shown != `"`+name+`"` {
		name = shown // with escapes for invisible characters
	}
	return invalid(Problem{File: textutil.Clip(name, maxShown), Message: fmt.Sprintf(format, args...)})
}

func invalid(d Problem) error {
	err := errs.New(errs.PolicyInvalid, "the bundle is invalid: %w", d)
	if d.File != "" {
		err = err.With("file", d.File)
	}
	return err
}

// oneLine folds white space, so that a message fits on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
