package document

import (
	"bytes"
	"encoding/xml"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/lazy"
)

// The functions below add checks that encoding/xml lacks. They return the problem, for a
// message, and its offset.

// findForbidden returns the offset of a character that XML 1.0 does not allow, or -1. The decoder
// does not check comments and processing instructions.
func findForbidden(text []byte) int {
	for i, c := range text {
		switch {
		case c < ' ' && c != '\t' && c != '\n' && c != '\r':
			return i
		case c == 0xEF && (bytes.HasPrefix(text[i:], []byte("\uFFFE")) || bytes.HasPrefix(text[i:], []byte("\uFFFF"))):
			return i
		}
	}
	return -1
}

// declaration matches an XML declaration by the standard: the decoder finds an encoding only
// in a common form.
var declaration = lazy.Regexp(`^<\?xml[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*(?:"([^"<&]*)"|'([^'<&]*)')` +
	`(?:[ \t\r\n]+encoding[ \t\r\n]*=[ \t\r\n]*(?:"([A-Za-z][A-Za-z0-9._-]*)"|'([A-Za-z][A-Za-z0-9._-]*)'))?` +
	`(?:[ \t\r\n]+standalone[ \t\r\n]*=[ \t\r\n]*(?:"(?:yes|no)"|'(?:yes|no)'))?[ \t\r\n]*\?>`)

// checkDeclaration checks the XML declaration that text may begin with.
func checkDeclaration(text []byte) (what string, at int) {
	const opening = "<?xml"
	if !bytes.HasPrefix(text, []byte(opening)) || len(text) > len(opening) && !strings.ContainsRune(blanks+"?", rune(text[len(opening)])) {
		return "", 0
	}
	const longest = 1 << 10 // Only white space could make it longer.
	m := declaration().FindSubmatch(text[:min(len(text), longest)])
	switch {
	case m == nil && !bytes.Contains(text, []byte("?>")):
		return "is cut short", len(text)
	case m == nil:
		return "has an XML declaration that is not well-formed", 0
	case string(m[1])+string(m[2]) != "1.0":
		return "declares another version of XML than 1.0", 0
	}
	if encoding := string(m[3]) + string(m[4]); encoding != "" && !strings.EqualFold(encoding, "UTF-8") {
		return "declares another encoding than UTF-8", 0
	}
	return "", 0
}

// checkTag checks the white space between the attributes of the start tag at i, if there is
// one, and the references in their values. It also counts the attributes, because the decoder
// accepts any number.
func checkTag(text []byte, i int) (attributes int, what string, at int) {
	if i+1 >= len(text) || text[i] != '<' || text[i+1] == '/' || text[i+1] == '!' || text[i+1] == '?' {
		return attributes, "", 0
	}
	for i++; i < len(text); i++ {
		switch quote := text[i]; quote {
		case '<', '>':
			return attributes, "", 0
		case '"', '\'':
			length := bytes.IndexByte(text[i+1:], quote)
			if length < 0 {
				return attributes, "", 0
			}
			if bad := findSurrogate(text[i+1 : i+1+length]); bad >= 0 {
				return attributes, "refers to a character that XML does not allow", i + 1 + bad
			}
			attributes++
			i += 1 + length
			if i+1 < len(text) && !strings.ContainsRune(blanks+"/>", rune(text[i+1])) {
				return attributes, "has XML attributes without white space between them", i + 1
			}
		}
	}
	return attributes, "", 0
}

// findSurrogate returns the offset of a reference to a surrogate, such as &#xD800;, or -1. The
// decoder replaces such a reference with U+FFFD.
func findSurrogate(text []byte) int {
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

// areDistinct reports whether no two attributes have the same name.
func areDistinct(attrs []xml.Attr) bool {
	seen := make(map[xml.Name]bool, len(attrs))
	for _, a := range attrs {
		seen[a.Name] = true
	}
	return len(seen) == len(attrs)
}
