package routing

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Problem is one defect of a policy and its location.
type Problem struct {
	// File is the module's path as shown to the user, or "" if the problem is not about
	// one file.
	File string `json:"file,omitzero"`
	// Row and Col count from 1, in lines and characters (a tab is one); 0 means unknown.
	Row     int    `json:"row,omitzero"`
	Col     int    `json:"col,omitzero"`
	Message string `json:"message"`
	// Source is the unchanged line at Row, tabs included, so that a caret can be put
	// under Col. It is "" if the line is not known, or if Col is in the part of a long
	// line that is cut.
	Source string `json:"source,omitzero"`
}

// String formats p as compilers do: file:row:col: message.
func (p Problem) String() string {
	switch {
	case p.File == "":
		return p.Message
	case p.Row == 0:
		return p.File + ": " + p.Message
	default:
		return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Row, p.Col, p.Message)
	}
}

// problemAt returns a problem at a location, which may be nil.
func problemAt(loc *ast.Location, format string, args ...any) Problem {
	p := Problem{Message: oneLine(fmt.Sprintf(format, args...))}
	if loc != nil {
		p.File, p.Row, p.Col = loc.File, loc.Row, loc.Col
	}
	return p
}

// invalid returns the policy-invalid error for at least one problem.
func invalid(ref string, problems ...Problem) *errs.Error {
	return errs.New(errs.PolicyInvalid, "policy %s is invalid: %s%s", ref, problems[0], textutil.AndMore(len(problems)-1)).
		With("policy", ref).
		With("problems", problems)
}

// invalid returns policy-invalid for problems in p's modules.
func (p *Policy) invalid(problems ...Problem) *errs.Error {
	for i := range problems {
		problems[i] = p.withSource(problems[i])
	}
	return invalid(p.ref, problems...)
}

// invalidRego returns policy-invalid for an OPA error about p's modules.
func (p *Policy) invalidRego(err error) *errs.Error { return p.invalid(Problems(err)...) }

// Problems converts an error of OPA's parser or compiler to at least one problem. Of the
// parser's messages about one location it uses the first, which names the mistake.
func Problems(err error) []Problem {
	var list ast.Errors
	if !errors.As(err, &list) || len(list) == 0 {
		return []Problem{{Message: oneLine(err.Error())}}
	}
	problems := make([]Problem, 0, len(list))
	for _, e := range list {
		p := problemAt(e.Location, "%s", explain(oneLine(e.Message)))
		if n := len(problems); n == 0 || p.Row == 0 || p.File != problems[n-1].File || p.Row != problems[n-1].Row || p.Col != problems[n-1].Col {
			problems = append(problems, p)
		}
	}
	return problems
}

// explain adds to a compiler message that a built-in exists but is disallowed.
func explain(message string) string {
	name, ok := strings.CutPrefix(message, "undefined function ")
	if b := ast.BuiltinMap[name]; ok && b != nil && disallowed(b) {
		return whyDisallowed(b)
	}
	return message
}

// explainNamed is explain for a built-in that is named without a call, as in "with count
// as rand.intn", where the compiler takes the first part of the name for a variable.
func explainNamed(message string, named []*ast.Builtin) string {
	for _, b := range named {
		if first, _, _ := strings.Cut(b.Name, "."); disallowed(b) && message == "var "+first+" is unsafe" {
			return whyDisallowed(b)
		}
	}
	return message
}

func whyDisallowed(b *ast.Builtin) string {
	return b.Name + " is not allowed in policies, because its result can change from one run or machine to the next, or one call can take unlimited memory or time"
}

// maxMessage bounds the bytes of a message: OPA can repeat a whole value or module.
const maxMessage = 500

// oneLine folds white space, so that a message fits on one line, and truncates it.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= maxMessage {
		return s
	}
	return fmt.Sprintf("%s… (%d bytes more)", strings.ToValidUTF8(s[:maxMessage], ""), len(s)-maxMessage)
}

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
	i := slices.IndexFunc(p.modules, func(m module) bool { return m.shown == name })
	if i < 0 {
		return ""
	}
	for line := range strings.Lines(p.modules[i].Text) {
		if row--; row == 0 {
			// Errors are written as JSON, which must be valid UTF-8.
			return textutil.ClipBytes(strings.ToValidUTF8(strings.TrimRight(line, "\r\n"), "?"), maxLine)
		}
	}
	return ""
}
