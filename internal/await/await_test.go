package await_test

import (
	"context"
	"errors"
	"io/fs"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/await"
)

func TestResult(t *testing.T) {
	got, err := await.Result(t.Context(), func() (int, error) { return 7, fs.ErrExist })
	if got != 7 || !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %d, %v", got, err)
	}
}

func TestResultOfACancelledContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(fs.ErrClosed)
	block := make(chan struct{})
	defer close(block)
	got, err := await.Result(ctx, func() (int, error) { <-block; return 7, nil })
	if got != 0 || !errors.Is(err, fs.ErrClosed) {
		t.Errorf("got %d, %v", got, err)
	}
}
