package metrics

// Guard returns a guarded source.
func Guard(source Source) Source { return &guardedSource{Source: source} }

// Per returns how many counted units make 1 of a metric.
func Per(f Family) int64 { return f.per }

// WithoutExemplars makes a collector that of a push.
func WithoutExemplars(c *Collector) { c.withoutExemplars = true }
