package host

import (
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/plugins"
)

// stock is the built-in plugins, and the runtime for them and others under the
// same limits.
type stock struct {
	runtime *plugins.Runtime
	builtin *plugins.Catalog
}

// stock returns the stock for a project's limits, which lasts as long as the
// engine.
func (e *Engine) stock(limits project.Limits) *stock {
	e.mu.Lock()
	defer e.mu.Unlock()
	s, ok := e.stocks[limits]
	if !ok {
		config := e.plugins
		config.Limits = plugins.Limits{Memory: limits.Memory, Time: limits.Time, Output: limits.Output}
		runtime := plugins.New(config)
		s = &stock{runtime, plugins.NewCatalog(runtime)}
		e.stocks[limits] = s
	}
	return s
}
