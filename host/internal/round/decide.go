package round

import (
	"time"

	"github.com/switchyard-dev/switchyard/host/internal/pluginset"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
)

// setProgress records how the findings compare with earlier reviews.
func setProgress(d *api.Decision, p task.Progress) {
	d.NoProgress, d.StalledRounds = p.IsStalled(), p.Stalled
	d.NewCount, d.RepeatCount, d.ReopenedCount, d.ResolvedCount = p.New, p.Repeat, p.Reopened, p.Resolved
}

// setDestination derives what follows from the next action.
func setDestination(d *api.Decision, p *policies.Policy) {
	destination, _ := p.Destination(d.NextAction)
	d.Stuck = task.IsStuckDestination(d.NextAction, string(destination.Kind))
	d.Routing.NextDestination = p.Strongest(d.Input.Routes)
	if d.Routing.NextDestination == "" {
		d.Routing.NextDestination = d.NextAction
	}
}

// setRouting sorts the findings into buckets by their destinations.
func setRouting(d *api.Decision) {
	d.Routing = api.Routing{FindingCount: len(d.Findings), Buckets: make(map[string][]string)}
	for _, f := range d.Findings {
		d.Routing.Buckets[f.Route] = append(d.Routing.Buckets[f.Route], f.Fingerprint)
	}
}

// bucketSizes returns the number of findings by destination.
func bucketSizes(r api.Routing) map[string]int {
	routes := make(map[string]int, len(r.Buckets))
	for destination, findings := range r.Buckets {
		routes[destination] = len(findings)
	}
	return routes
}

// maxSkippedRefs is how many skipped items of one reason are named.
const maxSkippedRefs = 20

func timingOf(all []pluginset.Report, policy time.Duration) *event.Timing {
	t := &event.Timing{PolicyMicros: policy.Microseconds()}
	for _, ev := range all {
		t.Plugins = append(t.Plugins, event.PluginTiming{Plugin: ev.Plugin.Name, Micros: ev.Took.Microseconds()})
	}
	return t
}
