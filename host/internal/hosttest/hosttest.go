// Package hosttest has helpers for tests of the engine.
package hosttest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/policies"
)

// Reports of a critic: one with a finding for the executor, and one without findings.
const (
	Issues = `{"critic":"critic","findings":[{"category":"style","severity":"nit","file":"a.go","line":1,"remediation":"r"}]}`
	Clean  = `{"critic":"critic","findings":[]}`
)

// Noon is the clock of tests that need the same time for all events.
func Noon() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

// Engine returns an engine for the project in a directory. It is closed at the end of the
// test.
func Engine(t testing.TB, root string, o host.Options) *host.Engine {
	t.Helper()
	o.Project = project.Project{Root: root, Dir: root}
	o.Plugins.Limits.Time = time.Minute // The race detector is slow.
	e := host.New(o)
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return e
}

// Request returns the request of a round with a report.
func Request(report string) host.Request {
	return host.Request{
		Reports: []host.ReportRef{{Plugin: host.Auto, Path: host.Stdin}},
		Stdin:   strings.NewReader(report),
		Verify:  host.VerifyRequest{Claim: policies.Absent},
	}
}

// RandomRequest returns a report of up to five findings, of known and unknown categories.
func RandomRequest(random *rand.Rand) host.Request {
	categories := []string{"style", "style", "missing-test", "scope-creep", "information-missing", "information-missing", "locked-decision-violation", "question-to-user", "made-up"}
	var findings []string
	for range random.IntN(6) {
		findings = append(findings, fmt.Sprintf(`{"category":%q,"severity":"risk","file":"src/%d.go","line":7,"remediation":"Say it in other words"}`,
			categories[random.IntN(len(categories))], random.IntN(3)))
	}
	r := Request(`{"critic":"critic","findings":[` + strings.Join(findings, ",") + `]}`)
	r.Verify.Claim = []policies.Verify{policies.Absent, policies.Green, policies.Red}[random.IntN(3)]
	r.Policy = []string{"", "routing@1.1.0"}[random.IntN(2)]
	return r
}
