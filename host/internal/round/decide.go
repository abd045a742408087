package round

import (
	"time"

	"github.com/switchyard-dev/switchyard/host/internal/pluginset"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
)

// setDestination sets the fields that follow from the next action.
func setDestination(d *api.Decision, p *policies.Policy) {
	destination, _ := p.Destination(d.NextAction)
	d.Stuck = task.IsStuckDestination(d.NextAction, string(destination.Kind))
	d.Routing.NextDestination = p.Strongest(d.Input.Routes)
	if d.Routing.NextDestination == "" {
		d.Routing.NextDestination = d.NextAction
	}
}

// setRouting groups the findings by destination.
func setRouting(d *api.Decision) {
	d.Routing = api.Routing{FindingCount: len(d.Findings), Buckets: make(map[string][]string)}
	for _, f := range d.Findings {
		d.Routing.Buckets[f.Route] = append(d.Routing.Buckets[f.Route], f.Fingerprint)
	}
}

func bucketSizes(r api.Routing) map[string]int {
	routes := make(map[string]int, len(r.Buckets))
	for destination, findings := range r.Buckets {
		routes[destination] = len(findings)
	}
	return routes
}

// maxSkippedRefs is the number of skipped items named per reason.
const maxSkippedRefs = 20

func timingOf(all []pluginset.Report, policy time.Duration) *event.Timing {
	t := &event.Timing{PolicyMicros: policy.Microseconds()}
	for _, ev := range all {
		t.Plugins = append(t.Plugins, event.PluginTiming{Plugin: ev.Plugin.Name, Micros: ev.Took.Microseconds()})
	}
	return t
}
