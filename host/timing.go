package host

import (
	"time"

	"github.com/switchyard-dev/switchyard/internal/event"
)

func timingOf(all []evidence, policy time.Duration) *event.Timing {
	t := &event.Timing{PolicyMicros: policy.Microseconds()}
	for _, ev := range all {
		t.Plugins = append(t.Plugins, event.PluginTiming{Plugin: ev.plugin.Name, Micros: ev.took.Microseconds()})
	}
	return t
}
