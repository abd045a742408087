package command

import (
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// TestHold tests that a directory has one worker at a time.
func TestHold(t *testing.T) {
	dir := t.TempDir() + "/new"
	hold := func() (func(), error) {
		f := workerFlags{dir: dir}
		return f.hold()
	}
	release, err := hold()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := hold(); errs.CodeOf(err) != errs.FleetDirectoryTaken {
		t.Errorf("a second worker gets %v", err)
	}
	release()
	if release, err = hold(); err != nil {
		t.Fatal(err)
	}
	release()
}
