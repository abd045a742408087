package worker_test

import (
	"os"
	"testing"
)

// TestSlowRemote begins a task whose first push takes longer than a dead home may go unnoticed.
func TestSlowRemote(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", oneRound())
	s.write(t, "remote.git/hooks/pre-receive", "#!/bin/sh\nif ! test -e pushed; then sleep 12; touch pushed; fi\n")
	if err := os.Chmod(s.path("remote.git/hooks/pre-receive"), 0o700); err != nil {
		t.Fatal(err)
	}
	if end := s.workflow(t); end.NextAction != "commit" {
		t.Errorf("the workflow ends with %+v (%+v)", end, end.Failure)
	}
}
