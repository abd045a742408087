package fault_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/switchyard-dev/switchyard/host/fault"
)

func TestErrorKeepsCodeCauseAndEvidence(t *testing.T) {
	err := fault.New("ledger-unreadable", "open ledger: %w", fs.ErrPermission).With("path", "x.db")
	wrapped := fmt.Errorf("round: %w", err)

	if !errors.Is(wrapped, fs.ErrPermission) {
		t.Error("the cause is not reachable through errors.Is")
	}
	if !errors.Is(wrapped, &fault.Error{Code: "ledger-unreadable"}) {
		t.Error("the code is not reachable through errors.Is")
	}
	if errors.Is(wrapped, &fault.Error{Code: "other"}) {
		t.Error("an error matches a code that is not its own")
	}
	if got := fault.CodeOf(wrapped); got != "ledger-unreadable" {
		t.Errorf("CodeOf = %q", got)
	}
	if got := err.Details["path"]; got != "x.db" {
		t.Errorf("Details[path] = %v", got)
	}
	if got, want := err.Error(), "open ledger: permission denied"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
}

func TestCodeOfForeignErrorIsEmpty(t *testing.T) {
	if got := fault.CodeOf(errors.New("plain")); got != "" {
		t.Errorf("CodeOf = %q, want none", got)
	}
	if got := fault.CodeOf(nil); got != "" {
		t.Errorf("CodeOf(nil) = %q, want none", got)
	}
}
