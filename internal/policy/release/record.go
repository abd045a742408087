package release

import (
	"bytes"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/adr"
	"github.com/switchyard-dev/switchyard/internal/policy/check"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// records are the files of the records directory, by name.
type records []adr.Found

func readRecords(root *os.Root) (records, error) {
	found, err := adr.List(root, recordsDir)
	if err != nil {
		return nil, errs.New(errs.PolicyTreeUnreadable, "the decision records in %s cannot be read: %w", recordsDir, safefile.Reason(err)).With("path", recordsDir)
	}
	return found, nil
}

// of returns the record with a name. If two have it, it returns neither.
func (all records) of(name string) (adr.Found, bool) {
	var found []adr.Found
	for _, r := range all {
		if r.Err == nil && r.Record.Name == name {
			found = append(found, r)
		}
	}
	if len(found) != 1 {
		return adr.Found{}, false
	}
	return found[0], true
}

// next returns the number after the highest. It counts invalid records too: their numbers
// are taken.
func (all records) next() int {
	highest := 0
	for _, r := range all {
		base := path.Base(r.File)
		digits := len(base) - len(strings.TrimLeft(base, "0123456789"))
		n, _ := strconv.Atoi(base[:digits]) // the largest int for a number above it
		highest = max(highest, min(n, maxRecords))
	}
	return highest + 1
}

// maxRecords is the highest number of a record.
const maxRecords = 9999

// waivers converts a record's waivers for package check.
func waivers(r adr.Record) []check.Waiver {
	list := make([]check.Waiver, len(r.Waives))
	for i, w := range r.Waives {
		list[i] = check.Waiver{Invariant: check.Invariant(w.Invariant), ADR: r.Name, Reason: w.Reason}
	}
	return list
}

// The markers around the changes in a record's body.
const (
	diffBegins = "<!-- switchyard:diff -->"
	diffEnds   = "<!-- /switchyard:diff -->"
)

// fill replaces the text between the markers with a block. A text without both markers,
// each in its own line and in order, is returned unchanged: authors may remove them.
func fill(text []byte, block string) []byte {
	begin, end, at := -1, -1, 0
	lineEnd := "\n"
	for line := range bytes.Lines(text) {
		switch strings.TrimSpace(string(line)) {
		case diffBegins:
			if begin < 0 {
				begin = at + len(line)
				if bytes.HasSuffix(line, []byte("\r\n")) {
					lineEnd = "\r\n"
				}
			}
		case diffEnds:
			if begin >= 0 && end < 0 {
				end = at
			}
		}
		at += len(line)
	}
	if end < 0 {
		return text
	}
	block = strings.ReplaceAll("\n"+strings.TrimSpace(block)+"\n\n", "\n", lineEnd)
	return append(append(bytes.Clone(text[:begin]), block...), text[end:]...)
}

// The instructions to the author of a new record, each in its own line.
const (
	askContext      = "What goes wrong, how often, and who noticed."
	askDecision     = "What this version does otherwise, and why this and nothing else."
	askConsequences = "What gets better, what gets worse, and what has to be done because of it."
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

// checkText reports instructions that the author has not replaced yet.
func (w *versionLinter) checkText(r adr.Record) {
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
