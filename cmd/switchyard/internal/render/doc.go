// Package render writes the results of commands: as text for a person, laid out for a
// terminal, and as JSON for scripts.
//
// It works on data and a writer, and does not depend on flags or on the engine.
package render
