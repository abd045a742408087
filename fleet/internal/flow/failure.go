package flow

import (
	"context"
	"errors"
	"strings"

	"go.temporal.io/sdk/temporal"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// maxMessage is the maximum size of a failure's message in bytes.
const maxMessage = 2 << 10

// Final converts an activity's error to one that ends the task as failed, with its code,
// message and hint, instead of repeating the activity.
func Final(err *errs.Error) error {
	return temporal.NewNonRetryableApplicationError(messageOf(err), string(err.Code), nil, err.Hint)
}

// FinalIf is Final if the code of an activity's error is final. Another error repeats the activity,
// which shows the code while it is pending. An error without a code, or after the end of ctx, is
// returned unchanged.
func FinalIf(ctx context.Context, err error, isFinal func(errs.Code) bool) error {
	f, ok := errors.AsType[*errs.Error](err)
	switch {
	case !ok || ctx.Err() != nil:
		return err
	case isFinal(f.Code):
		return Final(f)
	}
	return temporal.NewApplicationError(messageOf(f), string(f.Code))
}

func messageOf(err *errs.Error) string {
	return strings.ToValidUTF8(err.Message[:min(len(err.Message), maxMessage)], "")
}

// failureOf returns the failure of an activity that is not repeated. An error without a code
// is an internal error of the activity's program.
func failureOf(err error) *Failure {
	f := &Failure{Code: errs.Internal, Message: err.Error()}
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		f.Message = app.Message()
		if app.HasDetails() && app.Details(&f.Hint) == nil {
			f.Code = errs.Code(app.Type())
		}
	}
	return f
}

// failAt returns the last position of a task that failed at a position.
func failAt(at Position, f *Failure) Position {
	at.NextAction, at.Reason, at.Failure = ActionFailed, string(f.Code), f
	return at
}
