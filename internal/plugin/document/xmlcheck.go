package document

import (
	"bytes"
	"encoding/xml"
	"regexp"
	"strings"
	"sync"
	"unique"
)

// The functions below check what encoding/xml does not.

// forbidden returns the offset of a character that XML 1.0 does not allow, or -1.
// The decoder does not check comments and processing instructions.
func forbidden(text []byte) int {
	return bytes.IndexFunc(text, func(c rune) bool {
		return c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0xFFFE || c == 0xFFFF
	})
}

// declaration matches the XML declaration of the standard. The decoder finds an
// encoding only if it is written in a usual way. The expression is compiled for the
// first report that has a declaration, since most reports are not XML.
var declaration = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^<\?xml[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*(?:"([^"<&]*)"|'([^'<&]*)')` +
		`(?:[ \t\r\n]+encoding[ \t\r\n]*=[ \t\r\n]*(?:"([A-Za-z][A-Za-z0-9._-]*)"|'([A-Za-z][A-Za-z0-9._-]*)'))?` +
		`(?:[ \t\r\n]+standalone[ \t\r\n]*=[ \t\r\n]*(?:"(?:yes|no)"|'(?:yes|no)'))?[ \t\r\n]*\?>`)
})

// checkDeclaration checks the XML declaration that the text may begin with.
func (r *xmlReader) checkDeclaration() error {
	rest, ok := bytes.CutPrefix(r.text, []byte("<?xml"))
	if !ok || len(rest) > 0 && !strings.ContainsRune(blanks+"?", rune(rest[0])) {
		return nil
	}
	const longest = 1 << 10 // Only white space could make it longer.
	m := declaration().FindSubmatch(r.text[:min(len(r.text), longest)])
	switch {
	case m == nil && !bytes.Contains(r.text, []byte("?>")):
		return r.invalid("is cut short", len(r.text))
	case m == nil:
		return r.invalid("has an XML declaration that is not well-formed", 0)
	case string(m[1])+string(m[2]) != "1.0":
		return r.invalid("declares another version of XML than 1.0", 0)
	}
	if encoding := string(m[3]) + string(m[4]); encoding != "" && !strings.EqualFold(encoding, "UTF-8") {
		return r.invalid("declares another encoding than UTF-8", 0)
	}
	return nil
}

// checkTag checks the start tag at at, if there is one, before the decoder reads it:
// white space between attributes, references in their values, and the number of
// attributes. The decoder checks the rest.
func (r *xmlReader) checkTag(at int) error {
	text := r.text
	if at+1 >= len(text) || text[at] != '<' || text[at+1] == '/' || text[at+1] == '!' || text[at+1] == '?' {
		return nil
	}
	attributes := 0
	for i := at + 1; i < len(text) && text[i] != '<' && text[i] != '>'; i++ {
		quote := text[i]
		if quote != '"' && quote != '\'' {
			continue
		}
		length := bytes.IndexByte(text[i+1:], quote)
		if length < 0 {
			break
		}
		if bad := surrogate(text[i+1 : i+1+length]); bad >= 0 {
			return r.invalid("refers to a character that XML does not allow", i+1+bad)
		}
		attributes++
		i += 1 + length
		if i+1 < len(text) && !strings.ContainsRune(blanks+"/>", rune(text[i+1])) {
			return r.invalid("has XML attributes without white space between them", i+1)
		}
	}
	if attributes > maxAttributes {
		return r.tooMany(maxAttributes, "attributes of one element", at)
	}
	return nil
}

// surrogate returns the offset of a reference to a surrogate, such as &#xD800;, or
// -1. The decoder replaces it by U+FFFD.
func surrogate(text []byte) int {
	for i := 0; ; {
		next := bytes.Index(text[i:], []byte("&#"))
		if next < 0 {
			return -1
		}
		at := i + next
		i = at + len("&#")
		base, n := 10, 0
		if i < len(text) && text[i] == 'x' {
			base = 16
			i++
		}
		for ; i < len(text) && n <= 0x10FFFF; i++ {
			digit := bytes.IndexByte([]byte("0123456789abcdef"), text[i]|0x20)
			if digit < 0 || digit >= base {
				break
			}
			n = n*base + digit
		}
		if n >= 0xD800 && n <= 0xDFFF {
			return at
		}
	}
}

// bind enters the namespaces that an element's attributes declare. A namespace may be
// megabytes long, so it is hashed once where it is bound and not for every attribute.
func (r *xmlReader) bind(e *element, attrs []xml.Attr) {
	for _, a := range attrs {
		if prefix := a.Name.Local; a.Name.Space == "xmlns" {
			r.bound[prefix] = append(r.bound[prefix], unique.Make(a.Value))
			e.prefixes = append(e.prefixes, prefix)
		}
	}
}

// distinct reports whether no two attributes have the same name, either as written or
// with their prefixes' namespaces.
func (r *xmlReader) distinct(attrs []xml.Attr) bool {
	type attribute struct {
		space unique.Handle[string] // Zero if nothing binds the prefix.
		name  xml.Name              // As written, or without the bound prefix.
	}
	if len(attrs) < 2 {
		return true
	}
	seen := make(map[attribute]bool, len(attrs))
	for _, a := range attrs {
		key := attribute{name: a.Name}
		if spaces := r.bound[a.Name.Space]; len(spaces) > 0 {
			key = attribute{spaces[len(spaces)-1], xml.Name{Local: a.Name.Local}}
		}
		if seen[key] {
			return false
		}
		seen[key] = true
	}
	return true
}
