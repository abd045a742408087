// Command fakeagent is an agent's command line that plays a script; package
// spawntest has all about it.
package main

import (
	"os"

	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
)

func main() { os.Exit(fakeagent.Main()) }
