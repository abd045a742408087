package metrics

// Guard returns a guarded source.
func Guard(source Source) Source { return &guardedSource{Source: source} }
