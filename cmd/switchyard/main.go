// Switchyard decides where a review loop goes after each critic run.
package main

import (
	"context"
	"os"

	"github.com/switchyard-dev/switchyard/internal/cli"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, std cli.Streams) int {
	a := &app{Program: cli.Program{Streams: std}}
	return a.Run(ctx, newRootCmd(a, args), args)
}

// decisionStatus is the end of the help of a command that decides.
const decisionStatus = `
Exit status:
  0   done, or with --exit-code: commit
  1   a fault; the error on standard error says which
  2   the command line is wrong
With --exit-code also:
  10  executor      12  askuser         14  stuck
  11  researcher    13  plan-checker    15  any other destination, or run the critic yourself
`
