// Package fleettest has a Temporal server for tests of a fleet, and a home and workers that
// follow a script instead of an engine.
package fleettest

import (
	"log/slog"
	"os"
	"testing"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
)

// serverVariable names the temporal program, which `make temporal` builds.
const serverVariable = "SWITCHYARD_TEMPORAL"

// Server starts a Temporal dev server on a free port of the loopback interface, with the
// search attributes of a fleet and additional flags. It ends with the test. If the variable
// SWITCHYARD_TEMPORAL is not set, the test is skipped.
func Server(t testing.TB, flags ...string) *testsuite.DevServer {
	t.Helper()
	program := os.Getenv(serverVariable)
	if program == "" {
		t.Skip(serverVariable + " is not set: there is no Temporal server to test with")
	}
	output, err := os.CreateTemp(t.TempDir(), "server")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { output.Close() })
	server, err := testsuite.StartDevServer(t.Context(), testsuite.DevServerOptions{
		ExistingPath: program, LogLevel: "error", Stdout: output, Stderr: output, ExtraArgs: flags,
		ClientOptions: &client.Options{
			Identity: "test", Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler)),
			ConnectionOptions: client.ConnectionOptions{GrpcCompression: &client.GrpcCompressionNone{}}, // as the commands
		},
		SearchAttributes: temporal.NewSearchAttributes(
			flow.ProjectAttribute().ValueSet(""), flow.StatusAttribute().ValueSet("")),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Client().Close()
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server
}
