package e2e_test

import (
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// TestRefused tests that processes that cannot work say why and end.
func TestRefused(t *testing.T) {
	t.Parallel()
	f := newFleet(t, hangs())
	f.home().ready()
	ledger := []string{"ledger", "--store", f.path("store")}
	worker := []string{"worker", "--store", f.path("store"), "--dir", f.path("worker")}
	run := []string{"run", "T", "--prompt", "Do it.", "--store", f.path("store")}
	unused := []string{"--address", freeAddress(t)}
	for _, c := range []struct {
		name string
		args []string
		more []string
		want errs.Code
	}{
		{"a second home", ledger, nil, errs.FleetHomeRunning},
		{"a worker without a server", worker, unused, errs.FleetServerUnreachable},
		{"run without a server", run, unused, errs.FleetServerUnreachable},
		{"a worker of another namespace", worker, []string{"--namespace", "other"}, errs.FleetNamespaceUnknown},
		{"run in another namespace", run, []string{"--namespace", "other"}, errs.FleetNamespaceUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := f.start(strings.ReplaceAll(t.Name(), "/", " "), program("switchyard-fleet"), append(append(c.args[:len(c.args):len(c.args)], c.more...), "--output", "json")...)
			if code := p.wait(); code != 1 || !strings.Contains(p.output(), `"code": "`+string(c.want)+`"`) {
				t.Errorf("it exits with %d, want %s:\n%s", code, c.want, p.output())
			}
		})
	}
}
