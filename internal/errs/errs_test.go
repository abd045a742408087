package errs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

func TestErrorKeepsCodeCauseAndEvidence(t *testing.T) {
	err := errs.New("ledger-unreadable", "open ledger: %w", fs.ErrPermission).With("path", "x.db")
	wrapped := fmt.Errorf("round: %w", err)

	if !errors.Is(wrapped, fs.ErrPermission) {
		t.Error("the cause is not reachable through errors.Is")
	}
	if !errors.Is(wrapped, &errs.Error{Code: "ledger-unreadable"}) {
		t.Error("the code is not reachable through errors.Is")
	}
	if errors.Is(wrapped, &errs.Error{Code: "other"}) {
		t.Error("an error matches a code that is not its own")
	}
	if got := errs.CodeOf(wrapped); got != "ledger-unreadable" {
		t.Errorf("CodeOf = %q", got)
	}
	if got := err.Details["path"]; got != "x.db" {
		t.Errorf("Details[path] = %v", got)
	}
	if got, want := err.Error(), "open ledger: permission denied"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
}

func TestWithLeavesTheErrorAlone(t *testing.T) {
	shared := errs.New("a", "b").With("x", 1)
	if more := shared.With("y", 2).WithHint("h"); more.Details["x"] != 1 || more.Details["y"] != 2 || more.Hint != "h" {
		t.Errorf("got %+v", more)
	}
	if len(shared.Details) != 1 || shared.Hint != "" {
		t.Errorf("the shared error changed: %+v", shared)
	}
}

func TestCodeOfForeignErrorIsEmpty(t *testing.T) {
	if got := errs.CodeOf(errors.New("plain")); got != "" {
		t.Errorf("CodeOf = %q, want none", got)
	}
	if got := errs.CodeOf(nil); got != "" {
		t.Errorf("CodeOf(nil) = %q, want none", got)
	}
}

func TestNewKeepsAllCauses(t *testing.T) {
	err := errs.New("a", "write: %w; close: %w", fs.ErrPermission, fs.ErrClosed)
	if !errors.Is(err, fs.ErrPermission) || !errors.Is(err, fs.ErrClosed) {
		t.Error("a cause of two is lost")
	}
}
