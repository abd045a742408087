package round

import (
	"time"

	"github.com/switchyard-dev/switchyard/host/internal/pluginset"
	"github.com/switchyard-dev/switchyard/internal/event"
)

func timingOf(all []pluginset.Report, policy time.Duration) *event.Timing {
	t := &event.Timing{PolicyMicros: policy.Microseconds()}
	for _, ev := range all {
		t.Plugins = append(t.Plugins, event.PluginTiming{Plugin: ev.Plugin.Name, Micros: ev.Took.Microseconds()})
	}
	return t
}
