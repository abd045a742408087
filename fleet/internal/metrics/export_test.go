package metrics

import "github.com/prometheus/client_golang/prometheus"

// Registry returns the registry of metrics.
func Registry(m *Metrics) *prometheus.Registry { return m.registry }

// Exported reports whether a metric of the SDK is exported.
func Exported(name string) bool {
	for _, d := range descriptions() {
		if d.name == name {
			return true
		}
	}
	return false
}
