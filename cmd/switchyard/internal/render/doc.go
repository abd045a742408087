// Package render writes the results of commands: as text for a person, laid out
// for a terminal, and as JSON for scripts.
//
// It is given data and a writer. It knows nothing of flags or of the engine.
package render
