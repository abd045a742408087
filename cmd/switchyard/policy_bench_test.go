package main

import (
	"testing"

	"github.com/switchyard-dev/switchyard/internal/doccheck"
)

// TestBenchPage compares the table of docs/policies.md with the command's output.
// UPDATE=1 rewrites it.
func TestBenchPage(t *testing.T) {
	const command = "switchyard policy bench"
	out, err := inShell(t, t.TempDir())(command)
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	doccheck.Table(t, repository+"/docs", "policies.md", "bench", "```console\n$ "+command+"\n"+out+"```\n")
}
