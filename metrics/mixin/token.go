package mixin

import (
	"fmt"
	"strings"
)

// kind says what a token is.
type kind int

const (
	word    kind = iota // the name of a metric, a label or a function, or a keyword
	numeral             // also a duration
	quoted
	mark // an operator, a bracket or a comma
)

type token struct {
	kind kind
	// text is as it stands there, but for what is quoted: without its quotes.
	text string
}

// is reports whether the token is a mark.
func (t token) is(text string) bool { return t.kind == mark && t.text == text }

// tokens takes an expression apart. It knows as much of PromQL as our expressions
// need, and leaves it to promtool whether they are well-formed.
func tokens(expr string) ([]token, error) {
	var all []token
	for i := 0; i < len(expr); {
		c := expr[i]
		end := i + 1
		switch {
		case c == ' ' || c == '\n':
			i++
			continue
		case letter(c):
			for end < len(expr) && (letter(expr[end]) || digit(expr[end])) {
				end++
			}
			all = append(all, token{word, expr[i:end]})
		case digit(c):
			for end < len(expr) && (letter(expr[end]) || digit(expr[end]) || expr[end] == '.') {
				end++
			}
			all = append(all, token{numeral, expr[i:end]})
		case c == '"':
			for end < len(expr) && expr[end] != '"' {
				if expr[end] == '\\' {
					end++
				}
				end++
			}
			if end >= len(expr) {
				return nil, fmt.Errorf("a quote is not closed: %s", expr[i:])
			}
			all = append(all, token{quoted, expr[i+1 : end]})
			end++
		case strings.IndexByte("=!<>", c) >= 0 && end < len(expr) && (expr[end] == '=' || expr[end] == '~'):
			end++
			all = append(all, token{mark, expr[i:end]})
		case strings.IndexByte("(){}[],+-*/%^=<>", c) >= 0:
			all = append(all, token{mark, expr[i:end]})
		default:
			return nil, fmt.Errorf("%q is not expected: %s", c, expr[i:])
		}
		i = end
	}
	return all, nil
}

func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == ':'
}

func digit(c byte) bool { return c >= '0' && c <= '9' }
