package routing

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// maxLine is how much of a source line is kept to be shown, in bytes.
const maxLine = 256

// Location is a place in a policy's sources.
type Location struct {
	// File is the module's path as the user knows it.
	File string `json:"file"`
	// Row and Col count from 1, in lines and characters.
	Row int `json:"row"`
	Col int `json:"col"`
	// Text is the line there, without its indentation.
	Text string `json:"text"`
}

// RouteLocation returns where the route table has a category, or false if it does
// not have it.
func (p *Policy) RouteLocation(category string) (Location, bool) {
	loc, ok := p.tables.locations[category]
	if !ok {
		return Location{}, false
	}
	return p.location(loc), true
}

// location is a location with its line.
func (p *Policy) location(loc *ast.Location) Location {
	return Location{
		File: loc.File,
		Row:  loc.Row,
		Col:  loc.Col,
		Text: strings.TrimSpace(p.line(loc.File, loc.Row)),
	}
}

// withSource gives a problem the line that it is about.
func (p *Policy) withSource(problem Problem) Problem {
	if line := p.line(problem.File, problem.Row); problem.Col <= utf8.RuneCountInString(line)+1 {
		problem.Source = line
	}
	return problem
}

// line returns what is kept of a line of a module, or "" for a module or a line
// that is not there. Rows count from 1.
func (p *Policy) line(name string, row int) string {
	i := slices.IndexFunc(p.modules, func(m module) bool { return m.name == name })
	if i < 0 {
		return ""
	}
	for line := range strings.Lines(p.modules[i].source) {
		if row--; row == 0 {
			// Errors are written as JSON, which has no room for bytes that are no text.
			return textutil.ClipBytes(strings.ToValidUTF8(strings.TrimRight(line, "\r\n"), "?"), maxLine)
		}
	}
	return ""
}
