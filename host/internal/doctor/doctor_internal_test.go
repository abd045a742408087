package doctor

import (
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/host/internal/core"
	"github.com/switchyard-dev/switchyard/host/internal/query"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/supervise"
)

// TestDoctorWithoutSupervision checks that doctor shows all else if the system cannot
// supervise child processes, as under QEMU's user-mode emulation.
func TestDoctorWithoutSupervision(t *testing.T) {
	p := core.New(core.Options{Project: project.Project{Root: t.TempDir()}, Now: time.Now, Environ: os.Environ()})
	defer p.Close(t.Context())
	p.Supervisor = func() (*supervise.Supervisor, error) {
		return nil, errs.New(errs.ProcessStart, "child processes cannot be supervised: %w", errors.ErrUnsupported)
	}
	health, err := New(p, query.New(p)).Diagnose(t.Context(), false, false)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(health.Checks, func(c api.Check) bool { return c.Name == "processes" })
	if at < 0 || health.Checks[at].OK || health.Checks[at].Code != errs.ProcessStart || health.OK {
		t.Errorf("got %+v", health.Checks)
	}
	if len(health.Agents) == 0 {
		t.Error("the agents are missing")
	}
}
