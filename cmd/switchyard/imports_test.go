package main

import (
	"os/exec"
	"strings"
	"testing"
)

// TestKnowsNoFleet tests that the program of one machine does not pay for a fleet: that is
// a module of its own (docs/adr/0023-fleet.md).
func TestKnowsNoFleet(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	for _, name := range packages {
		for _, foreign := range []string{"go.temporal.io/", "google.golang.org/grpc", "github.com/minio/", "github.com/switchyard-dev/switchyard/fleet"} {
			if strings.HasPrefix(name, foreign) {
				t.Errorf("the program has %s", name)
			}
		}
	}
	if len(packages) < 100 {
		t.Errorf("only %d packages are listed", len(packages))
	}
}
