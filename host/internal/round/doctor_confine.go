package round

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/project"
)

// showConfinement shows the level at which agents run here, and why no higher one is
// reached. It starts a program at each level.
func (e *Engine) showConfinement(h *diagnosis, config project.Config) {
	settings := confineAgents(config.Spawn)
	reached, missing := confinement.None, []string{}
	for _, level := range confinement.Levels()[1:] {
		if !settings.Level.AtLeast(level) {
			break
		}
		if err := e.sandbox.Probe(level); err != nil {
			missing = append(missing, err.Error())
			if reached == confinement.None {
				break // The levels above it need the same.
			}
			continue
		}
		reached = level
	}
	err := e.checkConfinement(config, "", e.project.Root)
	text := fmt.Sprintf("agents run at the level %s", reached)
	if settings.Level == confinement.None {
		text = "agents are not confined: spawn.confine is off"
	}
	if runtime.GOOS == "darwin" && reached != confinement.None {
		text += ", which was never tried on macOS"
	}
	h.check("confinement", err, strings.Join(append([]string{text}, missing...), "; "))
}
