package linediff

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
)

type parser struct {
	rest  []byte
	hunks []hunk
	// ids are the ids of the texts of lines, from 1. removed and added have the ids of all
	// removed and all added lines, with a 0 before the lines of each hunk.
	ids            map[string]int
	removed, added []int
}

// hunk is a place where the versions differ.
type hunk struct {
	file string // "" if the later version does not have it
	// first is the line in the later version with which the hunk begins.
	first          int
	removed, added span
}

// span is a part of a slice.
type span struct{ from, to int }

var errPatch = errors.New("it is not a patch of git without context lines")

func (p *parser) parse() (err error) {
	file := ""
	for err == nil && len(p.rest) > 0 {
		line := p.line()
		if name, ok := bytes.CutPrefix(line, []byte("+++ ")); ok {
			file, err = parsePath(string(name))
		} else if header, ok := bytes.CutPrefix(line, []byte("@@ ")); ok {
			err = p.hunk(file, string(header))
		}
	}
	return err
}

// line cuts off the next line, and returns it without its end.
func (p *parser) line() []byte {
	line, rest, _ := bytes.Cut(p.rest, []byte("\n"))
	p.rest = rest
	return line
}

// hunk reads a hunk after its header.
func (p *parser) hunk(file, header string) error {
	before, rest, _ := strings.Cut(header, " ")
	after, _, _ := strings.Cut(rest, " ")
	_, removed, ok := parseRange(before, "-")
	first, added, ok2 := parseRange(after, "+")
	if !ok || !ok2 {
		return errPatch
	}
	if added == 0 {
		first++ // Git names the line before the hunk.
	}
	p.removed, p.added = append(p.removed, 0), append(p.added, 0)
	h := hunk{file, first, span{len(p.removed), len(p.removed) + removed}, span{len(p.added), len(p.added) + added}}
	p.hunks = append(p.hunks, h)
	for len(p.removed) < h.removed.to || len(p.added) < h.added.to {
		switch line := p.line(); {
		case bytes.HasPrefix(line, []byte("-")):
			p.removed = append(p.removed, p.id(line[1:]))
		case bytes.HasPrefix(line, []byte("+")):
			p.added = append(p.added, p.id(line[1:]))
		case !bytes.HasPrefix(line, []byte(`\`)): // "\ No newline at end of file"
			return errPatch
		}
	}
	if len(p.removed) > h.removed.to || len(p.added) > h.added.to {
		return errPatch
	}
	return nil
}

// id returns the id of a text, ignoring a carriage return at its end.
func (p *parser) id(text []byte) int {
	text = bytes.TrimSuffix(text, []byte("\r"))
	id, ok := p.ids[string(text)]
	if !ok {
		id = len(p.ids) + 1
		p.ids[string(text)] = id
	}
	return id
}

// parseRange parses a range of lines with its sign, such as -3,2 or -3, which is one line.
func parseRange(text, sign string) (first, count int, ok bool) {
	text, ok = strings.CutPrefix(text, sign)
	begin, length, several := strings.Cut(text, ",")
	first, ok2 := parseNumber(begin)
	count, ok3 := 1, true
	if several {
		count, ok3 = parseNumber(length)
	}
	return first, count, ok && ok2 && ok3
}

func parseNumber(text string) (int, bool) {
	n, err := strconv.ParseUint(text, 10, 31)
	return int(n), err == nil
}

// parsePath parses the path in the later version, "" if the file was removed.
func parsePath(text string) (string, error) {
	if text == "/dev/null" {
		return "", nil
	}
	text = strings.TrimSuffix(text, "\t") // Git adds it to a path with a space, also after quotes.
	if quoted, ok := strings.CutPrefix(text, `"`); ok {
		var err error
		if text, err = unquote(quoted); err != nil {
			return "", err
		}
	}
	path, ok := strings.CutPrefix(text, "b/")
	if !ok {
		return "", errPatch
	}
	return path, nil
}

// unquote decodes a text in git's quotes, after the first one. Git's escape sequences are
// also Go's, but other bytes need not be UTF-8.
func unquote(text string) (string, error) {
	var name []byte
	for text != `"` {
		c, _, rest, err := strconv.UnquoteChar(text, '"')
		switch {
		case err != nil:
			return "", errPatch
		case text[0] == '\\':
			name = append(name, byte(c))
		default:
			name = append(name, text[:len(text)-len(rest)]...)
		}
		text = rest
	}
	return string(name), nil
}
