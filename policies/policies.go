// Package policies loads the routing policies that decide where a task goes
// after a round of review: which agent works next, or that the task is done.
//
// A policy is a directory of Rego with three static tables (destinations,
// route_table, precedence), the rule decision, and optionally the rule bar. The
// released versions are embedded, so Load(ctx, Default) reads no file.
//
// A *Policy is immutable and safe for concurrent use. Every error is an *Error
// with a stable code.
package policies

import (
	"context"
	"embed"
	"io/fs"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// Default is the latest embedded policy, for callers that do not name one.
const Default = "routing@1.3.0"

type (
	// Policy is a loaded policy, ready to decide.
	Policy = routing.Policy
	// Input is a policy's view of a round: counts, never texts.
	Input = routing.Input
	// Facts is the part of an Input that only policies with a bar see.
	Facts = routing.Facts
	// Bar is the severity from which findings are open.
	Bar = routing.Bar
	// Decision is where a task goes next, and why.
	Decision = routing.Decision
	// Identity identifies a policy.
	Identity = routing.Identity
	// Destination is where a decision can send a task.
	Destination = routing.Destination
	// Kind is the kind of actor at a destination.
	Kind = routing.Kind
	// Verify is the outcome of the project's own verification in a round.
	Verify = routing.Verify
	// Engine is how a policy is evaluated.
	Engine = routing.Engine
	// Error is the type of every error of this package.
	Error = errs.Error
)

// The destinations that every policy declares as terminal.
const (
	Commit = routing.Commit
	Stuck  = routing.Stuck
)

// The kinds of destination.
const (
	Agent    = routing.Agent
	Human    = routing.Human
	Terminal = routing.Terminal
)

// The outcomes of a verification.
const (
	Green  = routing.Green
	Red    = routing.Red
	Absent = routing.Absent
)

// The bars, lowest first.
const (
	BarAll  = routing.BarAll
	BarRisk = routing.BarRisk
	BarFail = routing.BarFail
)

// The engines.
const (
	EngineRego = routing.EngineRego
	EngineWasm = routing.EngineWasm
)

//go:embed routing versions.lock
var files embed.FS

// Files returns the embedded policies: the directories routing/VERSION with their
// Rego tests, and versions.lock with their digests.
func Files() fs.FS { return files }

// Versions lists the embedded policies as references for Load, oldest first.
func Versions() []string { return routing.Loader{Released: files}.Versions() }

// Load finds, reads and checks a policy, and prepares it for Decide. ref is the
// name and version of an embedded policy, a directory with Rego files, or an OPA
// bundle. Its errors are:
//
//   - policy-unknown: ref has the form NAME@VERSION and is not built in.
//   - policy-not-found: ref is a path that does not exist.
//   - policy-unreadable: the path cannot be read, or ctx is done.
//   - policy-invalid: the content is not a policy, or too large.
//   - policy-timeout: it cannot be compiled within five seconds.
func Load(ctx context.Context, ref string) (*Policy, error) {
	return routing.Loader{Released: files}.Load(ctx, ref)
}
