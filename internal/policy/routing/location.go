package routing

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// maxLine bounds the source line shown, in bytes.
const maxLine = 256

// Location is a position in a policy's sources.
type Location struct {
	// File is the module's path as shown to the user.
	File string `json:"file"`
	// Row and Col count from 1, in lines and characters.
	Row int `json:"row"`
	Col int `json:"col"`
	// Text is the line at Row, without its indentation.
	Text string `json:"text"`
}

// RouteLocation returns the location of a category in the route table, or false if it is
// not there.
func (p *Policy) RouteLocation(category string) (Location, bool) {
	loc, ok := p.tables.locations[category]
	if !ok {
		return Location{}, false
	}
	return p.location(loc), true
}

// location converts a location and adds its line.
func (p *Policy) location(loc *ast.Location) Location {
	return Location{
		File: loc.File,
		Row:  loc.Row,
		Col:  loc.Col,
		Text: strings.TrimSpace(p.line(loc.File, loc.Row)),
	}
}

// withSource adds the source line to a problem.
func (p *Policy) withSource(problem Problem) Problem {
	if line := p.line(problem.File, problem.Row); problem.Col <= utf8.RuneCountInString(line)+1 {
		problem.Source = line
	}
	return problem
}

// line returns the beginning of a module's line, or "" if the module or the line does not
// exist. Rows count from 1.
func (p *Policy) line(name string, row int) string {
	i := slices.IndexFunc(p.modules, func(m module) bool { return m.name == name })
	if i < 0 {
		return ""
	}
	for line := range strings.Lines(p.modules[i].source) {
		if row--; row == 0 {
			// Errors are written as JSON, which must be valid UTF-8.
			return textutil.ClipBytes(strings.ToValidUTF8(strings.TrimRight(line, "\r\n"), "?"), maxLine)
		}
	}
	return ""
}
