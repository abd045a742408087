package main

import (
	"os/exec"
	"strings"
	"testing"
)

// TestImports tests that the program does not pay for a fleet, which is a module of its own
// (docs/adr/0023-fleet.md), nor for the MCP server, which is a program of its own.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	for _, name := range packages {
		for _, foreign := range []string{"go.temporal.io/", "google.golang.org/grpc", "github.com/minio/", "github.com/modelcontextprotocol/", "github.com/switchyard-dev/switchyard/fleet"} {
			if strings.HasPrefix(name, foreign) {
				t.Errorf("the program has %s", name)
			}
		}
	}
	if len(packages) < 100 {
		t.Errorf("only %d packages are listed", len(packages))
	}
}
