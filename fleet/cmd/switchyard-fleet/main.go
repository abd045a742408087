// Command switchyard-fleet runs the tasks of projects on many machines.
package main

import (
	"context"
	"os"

	"github.com/switchyard-dev/switchyard/fleet/internal/command"
	"github.com/switchyard-dev/switchyard/internal/cli"
)

func main() {
	os.Exit(command.Run(context.Background(), os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
