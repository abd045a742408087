// Command fakeagent is an agent's command line that runs a script; see package
// internal/agent/fakeagent.
package main

import (
	"os"

	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
)

func main() { os.Exit(fakeagent.Main()) }
