package host

import "time"

// Timing is how long the parts of a decision took, in microseconds of a clock that
// nobody sets.
type Timing struct {
	Plugins      []PluginTiming `json:"plugins,omitzero"`
	PolicyMicros int64          `json:"policy_us"`
}

// PluginTiming is how long a plugin took for a report.
type PluginTiming struct {
	Plugin string `json:"plugin"`
	Micros int64  `json:"us"`
}

func timingOf(all []evidence, policy time.Duration) *Timing {
	t := &Timing{PolicyMicros: policy.Microseconds()}
	for _, ev := range all {
		t.Plugins = append(t.Plugins, PluginTiming{Plugin: ev.plugin.Name, Micros: ev.took.Microseconds()})
	}
	return t
}
