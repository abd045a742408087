package cli

import "github.com/spf13/pflag"

// MCPHelp is the help of switchyard mcp and of switchyard-mcp, the program that it runs.
const MCPHelp = `Serves the tasks of a project over the Model Context Protocol on standard input
and output, until the client closes standard input. An MCP client, such as an
agent, starts it.

Its tools status, findings, explain and next only read. With --allow-mutations
it also has submit_report, which decides a round with a report, and answer, which
answers a question. Their events name the user who runs the server. An agent
that Switchyard spawned cannot use them. docs/mcp.md describes all tools.

The server is a separate program, switchyard-mcp, because its libraries would
slow down the start of every command.`

// MutationsVar adds --allow-mutations.
func MutationsVar(flags *pflag.FlagSet, value *bool) {
	flags.BoolVar(value, "allow-mutations", false, "add the tools that record: submit_report and answer")
}
