package e2e

import (
	"testing"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/sandbox"
)

// TestConfinement tests that the real CLIs review a draft at every level of this machine.
func TestConfinement(t *testing.T) {
	r := newRig(t)
	r.build(t)
	for _, level := range confinement.Levels()[1:] {
		t.Run(string(level), func(t *testing.T) {
			if err := sandbox.Probe(level); err != nil {
				t.Skip(err)
			}
			for name := range tools() {
				t.Run(name, func(t *testing.T) {
					r.needs(t, name)
					hosts := "{level: required " + string(level) + ", hosts: ['" + r.model.address() + "']}"
					p := r.newProject(t, r.model.url(name+"-"+string(level), critic(missingTest)), config(name, "  confine: "+hosts))
					d := p.round(t, "T-1")
					d.goes(t, "executor", "missing-test").ran(t, "critic "+name+" findings")
					if len(d.Spawns) == 1 && d.Spawns[0].Confinement != level {
						t.Errorf("it ran at %q", d.Spawns[0].Confinement)
					}
				})
			}
		})
	}
}
