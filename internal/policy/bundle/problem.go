package bundle

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// maxShown is how much of a text from a bundle a message shows, in code points.
const maxShown = 200

// Problem is the cause of every policy-invalid: what is wrong with a bundle and where,
// for callers that say in their own words which bundle it is.
type Problem struct {
	// File is the file at fault, made fit to be shown, and "" where it is no single
	// file.
	File string
	// Message says what is wrong with the file, or with the bundle, and calls it "it".
	Message string

	cause error
}

// Error is the message, with the file in front.
func (d Problem) Error() string {
	if d.File == "" {
		return d.Message
	}
	return d.File + ": " + d.Message
}

// Unwrap is what was wrong with the archive in the words of who read it, or nil.
func (d Problem) Unwrap() error { return d.cause }

// malformed says what is wrong with a whole bundle.
func malformed(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return invalid(Problem{Message: textutil.Clip(oneLine(err.Error()), maxShown), cause: err})
}

// malformedFile says what is wrong with one file of it.
func malformedFile(name, format string, args ...any) error {
	if shown := strconv.QuoteToGraphic(name); shown != `"`+name+`"` {
		name = shown // with escapes for what does not show
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

// oneLine folds all white space, so that a message fits on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
