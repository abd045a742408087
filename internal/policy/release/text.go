package release

import (
	"bytes"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/policy/adr"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// The instructions to the author of a new record, each in its own line.
const (
	askContext      = "What goes wrong, how often, and who noticed."
	askDecision     = "What this version does otherwise, and why this and nothing else."
	askConsequences = "What gets better, what gets worse, and what somebody has to do because of it."
)

// outline is the body of a new record, with the author's sections and the markers for
// Release's figures.
const outline = `## Context

` + askContext + `

## Decision

` + askDecision + `

` + diffBegins + `
` + diffEnds + `

## Consequences

` + askConsequences + `
`

// written reports instructions that the author has not replaced yet.
func (w *versionLinter) written(r adr.Record) {
	found, _ := w.records.of(r.Name)
	row := 0
	for line := range bytes.Lines(found.Text) {
		row++
		switch text := strings.TrimSpace(string(line)); text {
		case askContext, askDecision, askConsequences:
			f := about(RecordText, r, "%s is still to say %s%s", r.Name, strings.ToLower(text[:1]), strings.TrimSuffix(text[1:], "."))
			w.say(f.at(routing.Location{File: r.File, Row: row, Col: 1, Text: text}).hint("write it in the place of this line"))
		}
	}
}
