package document_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
)

func TestXML(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a test report", `<testsuite name="a"><testcase name="t"><failure message="m">boom</failure></testcase></testsuite>`,
			`{"testsuite":{"@name":"a","testcase":[{"@name":"t","failure":[{"@message":"m","#text":"boom"}]}]}}`},
		{"an empty element", `<a/>`, `{"a":{}}`},
		{"an empty element in two tags", `<a></a >`, `{"a":{}}`},
		{"white space in tags", "<a \n b = '1'\t/>", `{"a":{"@b":"1"}}`},
		{"attributes in their order", `<a z="1" b="" y='"'/>`, `{"a":{"@z":"1","@b":"","@y":"\""}}`},
		{"one child is an array", `<a><b/></a>`, `{"a":{"b":[{}]}}`},
		{"children of one name", `<a><b/><b>2</b></a>`, `{"a":{"b":[{},{"#text":"2"}]}}`},
		{"children by first appearance", `<a>x<b/><c>1</c><b n="2"/>y<c/><d/></a>`,
			`{"a":{"b":[{},{"@n":"2"}],"c":[{"#text":"1"},{}],"d":[{}],"#text":"xy"}}`},
		{"children apart on several levels", `<a k="v"><b><c>1</c><d/><c>2</c></b><e/><b><d>3</d><c/><d>4</d></b></a>`,
			`{"a":{"@k":"v","b":[{"c":[{"#text":"1"},{"#text":"2"}],"d":[{}]},{"d":[{"#text":"3"},{"#text":"4"}],"c":[{}]}],"e":[{}]}}`},
		{"a child like its parent", `<a><a><a/></a></a>`, `{"a":{"a":[{"a":[{}]}]}}`},
		{"a child like an attribute", `<a b="1"><b>2</b></a>`, `{"a":{"@b":"1","b":[{"#text":"2"}]}}`},
		{"text in pieces", `<a> 1<!-- x -->2<b> </b>3<![CDATA[ <4> ]]><?p x?>5 </a>`, `{"a":{"b":[{}],"#text":" 123 <4> 5 ","#comment":["x"]}}`},
		{"text of white space", "<a> \n&#9;<![CDATA[ ]]>&#xD;</a>", `{"a":{}}`},
		{"other spaces are text", "<a>\u00a0</a>", "{\"a\":{\"#text\":\"\u00a0\"}}"},
		{"empty CDATA", `<a><![CDATA[]]></a>`, `{"a":{}}`},
		{"CDATA with brackets", `<a><![CDATA[]]]]><![CDATA[>]]></a>`, `{"a":{"#text":"]]>"}}`},
		{"CDATA is not unescaped", `<a><![CDATA[&amp;&#xD800;]]></a>`, `{"a":{"#text":"&amp;&#xD800;"}}`},
		{"entities", `<a b="&lt;&gt;&amp;&quot;&apos;">&#65;&#x42;&#x1F600;</a>`, `{"a":{"@b":"<>&\"'","#text":"AB😀"}}`},
		{"an entity's result is not read again", `<a>&amp;lt;&#38;gt;</a>`, `{"a":{"#text":"&lt;&gt;"}}`},
		{"what JSON escapes", "<a b=\"\\&#9;&#10;&#13;\x7f\">\"\u2028</a>", "{\"a\":{\"@b\":\"\\\\\\t\\n\\r\x7f\",\"#text\":\"\\\"\u2028\"}}"},
		{"line ends", "<a b='1\r\n2\r3'>1\r\n2\r3\n4</a>", `{"a":{"@b":"1\n2\n3","#text":"1\n2\n3\n4"}}`},
		{"prefixes stand as written", `<x:a xmlns:x="u" xmlns="v" x:b="1" b="2"><c/></x:a>`,
			`{"x:a":{"@xmlns:x":"u","@xmlns":"v","@x:b":"1","@b":"2","c":[{}]}}`},
		{"a prefix that nothing declares", `<x:a y:b="1"/>`, `{"x:a":{"@y:b":"1"}}`},
		{"a colon at an end", `<:a b:="1"/>`, `{":a":{"@b:":"1"}}`},
		{"names of other scripts", `<größe_1.ü-ß 名="x"/>`, `{"größe_1.ü-ß":{"@名":"x"}}`},
		{"a declaration", `<?xml version="1.0" encoding="utf-8" standalone='yes' ?><a/>`, `{"a":{}}`},
		{"a declaration over lines", "<?xml\nversion = '1.0'\nencoding\n=\n\"UTF-8\"?>\n<a/>\n", `{"a":{}}`},
		{"a byte order mark", "\ufeff<?xml version='1.0'?><a/>", `{"a":{}}`},
		{"white space and comments around", " \n<!-- - -> <a> & -->\n<?xml-stylesheet href='x'?><a/>\n<!--->--><?p?> ", `{"a":{}}`},
		{"a comment that looks unended", `<a><!--></a>--></a>`, `{"a":{"#comment":["></a>"]}}`},
		{"comments of each element", `<a k="v"><!-- 1 --><b><!--2--></b>t<!-- 3 --><c/><b/><!--4--></a>`,
			`{"a":{"@k":"v","b":[{"#comment":["2"]},{}],"c":[{}],"#text":"t","#comment":["1","3","4"]}}`},
		{"comments in children apart", `<a><b><!--1--></b><c/><b><!--2--></b></a>`, `{"a":{"b":[{"#comment":["1"]},{"#comment":["2"]}],"c":[{}]}}`},
		{"comments are left behind", `<a><b><!--1--></b><b/></a>`, `{"a":{"b":[{"#comment":["1"]},{}]}}`},
		{"an empty comment is one", `<a><!----><!-- 	 --></a>`, `{"a":{"#comment":["",""]}}`},
		{"white space around a comment", "<a><!-- \n\t\r 1  2\u00a0 \r\n--></a>", "{\"a\":{\"#comment\":[\"1  2\u00a0\"]}}"},
		{"line ends in a comment", "<a><!--1\r\n2\r3\r\r\n4\n5--></a>", `{"a":{"#comment":["1\n2\n3\n\n4\n5"]}}`},
		{"a comment is not unescaped", `<a><!-- "&lt;&#xD800;\ <b/> - --></a>`, `{"a":{"#comment":["\"&lt;&#xD800;\\ <b/> -"]}}`},
		{"greater-than and quotes in text", `<a>1 > 2 "x" 'y' ]] ></a>`, `{"a":{"#text":"1 > 2 \"x\" 'y' ]] >"}}`},
		{"greater-than in an attribute", `<a b="/>" c=']]>'/>`, `{"a":{"@b":"/>","@c":"]]>"}}`},
		{"two prefixes of two namespaces", `<a xmlns:x="u" xmlns:y="v" x:b="1" y:b="2"/>`, `{"a":{"@xmlns:x":"u","@xmlns:y":"v","@x:b":"1","@y:b":"2"}}`},
		{"two prefixes of one namespace", `<a xmlns:x="u" xmlns:y="u" x:b="1" y:b="2"/>`, `{"a":{"@xmlns:x":"u","@xmlns:y":"u","@x:b":"1","@y:b":"2"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc, err := as(document.XML, c.text, document.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if string(doc.Bytes()) != c.want {
				t.Errorf("got  %s\nwant %s", doc.Bytes(), c.want)
			}
			if _, err := as(document.JSON, string(doc.Bytes()), document.Limits{}); err != nil {
				t.Errorf("what comes out is refused as JSON: %v", err)
			}
		})
	}
}

func TestXMLRefuses(t *testing.T) {
	for _, c := range []struct {
		name, text   string
		line, offset int
	}{
		{"text", "all good", 1, 0},
		{"no element", "<!-- x -->\n", 2, 11},
		{"no element, a declaration", "<?xml version='1.0'?>", 1, 21},
		{"an element that does not end", "<a>\n<b></b>", 2, 11},
		{"an element that does not end, in text", "<a>x", 1, 4},
		{"a tag that does not end", "<a", 1, 2},
		{"a tag that does not end, in a value", "<a b='", 1, 6},
		{"an end tag that does not end", "<a></a", 1, 6},
		{"nothing but <", "<", 1, 1},
		{"another end tag", "<a>\n</b>", 2, 4},
		{"an end tag of another case", "<a></A>", 1, 3},
		{"an end tag of the same name and another prefix", "<x:a xmlns:x='u' xmlns:y='u'></y:a>", 1, 29},
		{"an end tag without its prefix", "<x:a></a>", 1, 5},
		{"crossed tags", "<a><b></a></b>", 1, 6},
		{"an end tag too many", "<a/></a>", 1, 4},
		{"an end tag alone", "</a>", 1, 0},
		{"an end tag with an attribute", "<a></a b='1'>", 1, 8},
		{"two roots", "<a/>\n<b/>", 2, 5},
		{"text before", "x<a/>", 1, 0},
		{"text behind", "<a/>\n x", 2, 6},
		{"a reference behind", "<a/>&#32;", 1, 4},
		{"CDATA behind", "<a/><![CDATA[ ]]>", 1, 4},
		{"CDATA before", "<![CDATA[]]><a/>", 1, 0},
		{"a DOCTYPE", "<!DOCTYPE a>\n<a/>", 1, 0},
		{"a DOCTYPE with entities", `<!DOCTYPE a [<!ENTITY b "x">]><a>&b;</a>`, 1, 0},
		{"a DOCTYPE with nested quotes", `<!DOCTYPE a "'>" '">'><a/>`, 1, 0},
		{"a DOCTYPE with a comment", `<!DOCTYPE <!-- > --> a><a/>`, 1, 0},
		{"a declaration in an element", `<a><!ENTITY b "x"></a>`, 1, 3},
		{"a nameless declaration", `<a><!></a>`, 1, -1},
		{"a conditional section", `<a><![IGNORE[x]]></a>`, 1, -1},
		{"another entity", "<a>\n&nbsp;</a>", 2, -1},
		{"an entity in another case", "<a>&LT;</a>", 1, -1},
		{"a lone ampersand", "<a>x & y</a>", 1, -1},
		{"an ampersand at the end", "<a>&", 1, 4},
		{"an entity without a semicolon", "<a>&lt </a>", 1, -1},
		{"a reference without digits", "<a>&#;</a>", 1, -1},
		{"a reference with X", "<a>&#X41;</a>", 1, -1},
		{"a reference with a sign", "<a>&#+65;</a>", 1, -1},
		{"a reference that is too large", "<a>&#x110000;</a>", 1, -1},
		{"a reference that is far too large", "<a>&#18446744073709551681;</a>", 1, -1},
		{"a reference to NUL", "<a>&#0;</a>", 1, -1},
		{"a reference to a control character", "<a>&#27;</a>", 1, -1},
		{"a reference to a surrogate", "<a>\n&#xD800;</a>", 2, 4},
		{"a reference to a surrogate in small letters", "<a>x&#x0dfff;</a>", 1, 4},
		{"a reference to a surrogate, decimal", "<a>&#55296;</a>", 1, 3},
		{"a reference to a surrogate in an attribute", "<a b='&#xDBFF;&#xDC00;'/>", 1, 6},
		{"a reference to no character", "<a>&#xFFFE;</a>", 1, -1},
		{"a control character", "<a>\x1b</a>", 1, 3},
		{"NUL in a comment", "<a><!-- \x00 --></a>", 1, 8},
		{"a control character in an instruction", "<?p \x01?><a/>", 1, 4},
		{"U+FFFF in CDATA", "<a><![CDATA[\uffff]]></a>", 1, 12},
		{"U+FFFE in a value", "<a b='\ufffe'/>", 1, 6},
		{"a byte order mark twice", "\ufeff\ufeff<a/>", 1, 3},
		{"an attribute twice", "<a>\n<b c='1' c='2'/></a>", 2, 4},
		{"an attribute twice among many", "<a b1='' b2='' b3='' b4='' b5='' b6='' b7='' b8='' b9='' b10='' b3=''/>", 1, 0},
		{"an attribute twice, equal", "<a b='1' b='1'/>", 1, 0},
		{"a prefix declared twice", "<a xmlns:x='u' xmlns:x='u'/>", 1, 0},
		{"an attribute without a value", "<a b/>", 1, -1},
		{"an attribute without a value, before another", "<a b c='1'/>", 1, -1},
		{"an attribute without quotes", "<a b=1/>", 1, -1},
		{"an attribute with an empty value", "<a b=/>", 1, -1},
		{"a value with <", "<a b='<'/>", 1, -1},
		{"a value with a lone ampersand", "<a b='x&y'/>", 1, -1},
		{"attributes without space", `<a b="1"c="2"/>`, 1, 8},
		{"a value with something behind", `<a b="1"x/>`, 1, 8},
		{"a quote alone", `<a "b"/>`, 1, -1},
		{"a slash in a tag", `<a / b="1">`, 1, -1},
		{"a slash and a space", `<a/ >`, 1, -1},
		{"a space before the name", "< a/>", 1, -1},
		{"a name of two colons", "<x:y:z/>", 1, -1},
		{"an attribute of two colons", "<a x:y:z='1'/>", 1, -1},
		{"a name that begins with a digit", "<1/>", 1, -1},
		{"a name that begins with a dash", "<-a/>", 1, -1},
		{"a name with a symbol", "<a×b/>", 1, -1},
		{"an empty tag", "<>x</>", 1, -1},
		{"]]> in text", "<a>]]></a>", 1, -1},
		{"CDATA that does not end", "<a><![CDATA[ ]] ></a>", 1, 21},
		{"CDATA in another case", "<a><![cdata[x]]></a>", 1, -1},
		{"a comment with two dashes", "<a><!-- a -- b --></a>", 1, -1},
		{"a comment with three dashes at its end", "<a><!-- a ---></a>", 1, -1},
		{"a comment that does not end", "<a><!-- a</a>", 1, 13},
		{"a comment that ends too soon", "<a><!--></a>", 1, 12},
		{"a comment that is none", "<a><!- x --></a>", 1, -1},
		{"an instruction that does not end", "<a><?p ?</a>", 1, 12},
		{"an instruction without a name", "<a><? p?></a>", 1, -1},
		{"an instruction that goes on in its name", "<?p/x?><a/>", 1, 0},
		{"an instruction that hides an element", "<a><?p<b/>?></a>", 1, 3},
		{"a declaration behind white space", " <?xml version='1.0'?><a/>", 1, 1},
		{"a declaration in the element", "<a><?xml version='1.0'?></a>", 1, 3},
		{"a declaration in capitals", "<?XML version='1.0'?><a/>", 1, 0},
		{"a declaration without a version", "<?xml encoding='UTF-8'?><a/>", 1, 0},
		{"a declaration of nothing", "<?xml?><a/>", 1, 0},
		{"a declaration in another order", "<?xml encoding='UTF-8' version='1.0'?><a/>", 1, 0},
		{"a declaration of something else", "<?xml version='1.0' coding='latin1'?><a/>", 1, 0},
		{"a declaration that does not end", "<?xml version='1.0'", 1, 19},
		{"XML 1.1", "<?xml version='1.1'?><a/>", 1, 0},
		{"another encoding", `<?xml version="1.0" encoding="ISO-8859-1"?><a/>`, 1, 0},
		{"another encoding, with spaces", `<?xml version="1.0" encoding = "ISO-8859-1"?><a/>`, 1, 0},
		{"another encoding, behind a decoy", `<?xml version="1.0" standalone="encoding='UTF-8'" encoding="ISO-8859-1"?><a/>`, 1, 0},
		{"UTF-16", `<?xml version="1.0" encoding="UTF-16"?><a/>`, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc, err := as(document.XML, c.text, document.Limits{})
			if err == nil {
				t.Fatalf("passes: %s", doc.Bytes())
			}
			details := map[string]any{"line": c.line, "offset": c.offset}
			if f, ok := err.(*errs.Error); ok && c.offset < 0 {
				details["offset"] = f.Details["offset"] // Where the parser stops is its own.
			}
			wantFault(t, err, errs.ReportInvalidXML, details)
		})
	}
}

func TestXMLUpToTheLimits(t *testing.T) {
	nest := func(levels int) string { return strings.Repeat("<a>", levels) + strings.Repeat("</a>", levels) }
	if _, err := as(document.XML, nest(64), document.Limits{}); err != nil {
		t.Error(err)
	}
	_, err := as(document.XML, "\n"+nest(65), document.Limits{})
	wantFault(t, err, errs.ReportTooDeep, map[string]any{"limit": 128, "offset": 1 + 64*3, "line": 2})
	_, err = as(document.XML, strings.Repeat("<a>", 1_000_000), document.Limits{})
	wantFault(t, err, errs.ReportTooDeep, map[string]any{"limit": 128, "offset": 64 * 3, "line": 1})

	comment := func(levels int) string {
		return strings.Repeat("<a>", levels) + "<!---->" + strings.Repeat("</a>", levels)
	}
	if _, err := as(document.XML, comment(63), document.Limits{}); err != nil {
		t.Error(err)
	}
	_, err = as(document.XML, "\n"+comment(64), document.Limits{}) // It would be in an array of its own.
	wantFault(t, err, errs.ReportTooDeep, map[string]any{"limit": 128, "offset": 1 + 64*3, "line": 2})

	text := `<a b="&quot;"/>` // {"a":{"@b":"\""}} has two bytes more.
	if _, err := as(document.XML, text, document.Limits{Bytes: 17}); err != nil {
		t.Error(err)
	}
	_, err = as(document.XML, text, document.Limits{Bytes: 16})
	wantFault(t, err, errs.ReportTooLarge, map[string]any{"limit": int64(16)})

	var attributes strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&attributes, " a%d=''", i)
	}
	if _, err := as(document.XML, "<a"+attributes.String()+"/>", document.Limits{}); err != nil {
		t.Error(err)
	}
	_, err = as(document.XML, "<a><b"+attributes.String()+" b=''/></a>", document.Limits{})
	wantFault(t, err, errs.ReportTooLarge, map[string]any{"limit": 10_000, "unit": "attributes of one element", "offset": 3, "line": 1})

	var names strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&names, "<a%d/>", i)
	}
	if _, err := as(document.XML, "<a>"+names.String()+"</a>", document.Limits{}); err != nil {
		t.Error(err)
	}
	_, err = as(document.XML, "<a>"+names.String()+"<b/></a>", document.Limits{})
	wantFault(t, err, errs.ReportTooLarge, map[string]any{"limit": 10_000, "unit": "names of one element's children", "offset": 3 + names.Len(), "line": 1})
}

func TestXMLHasAMillionElements(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	elements := strings.Repeat("<a/>", 999_999)
	if _, err := as(document.XML, "<r>"+elements+"</r>", document.Limits{}); err != nil {
		t.Error(err)
	}
	_, err := as(document.XML, "<r>"+elements+"\n<a/></r>", document.Limits{})
	wantFault(t, err, errs.ReportTooLarge, map[string]any{"limit": 1_000_000, "unit": "elements", "offset": 3 + 4*999_999 + 1, "line": 2})
}

// piece is a part of an element: a child, text in one of its forms, or a part without meaning.
type piece struct {
	child *tree
	kind  string
	text  string
}

type tree struct {
	name  string
	attrs [][2]string
	in    []piece
}

// write renders a tree as XML.
func (n *tree) write(w *strings.Builder) {
	escape := func(s string) {
		for i, r := range s {
			switch {
			case strings.ContainsRune("<>&\"'\r", r) || i%3 == 0 && r < 0x80:
				fmt.Fprintf(w, "&#x%X;", r)
			default:
				w.WriteRune(r)
			}
		}
	}
	w.WriteString("<" + n.name)
	for i, a := range n.attrs {
		quote := `'"`[i%2 : i%2+1]
		w.WriteString(" " + a[0] + "=" + quote)
		escape(a[1])
		w.WriteString(quote)
	}
	if len(n.in) == 0 {
		w.WriteString("/>")
		return
	}
	w.WriteString(">")
	for _, p := range n.in {
		switch p.kind {
		case "child":
			p.child.write(w)
		case "text":
			escape(p.text)
		case "CDATA":
			w.WriteString("<![CDATA[" + strings.ReplaceAll(p.text, "]]>", "]]]]><![CDATA[>") + "]]>")
		case "comment":
			w.WriteString("<!--" + p.text + "-->")
		case "instruction":
			w.WriteString("<?p " + strings.ReplaceAll(p.text, "?", "") + "?>")
		}
	}
	w.WriteString("</" + n.name + ">")
}

// json maps a tree as the documentation says, in the plainest way.
func (n *tree) json() map[string]any {
	object := map[string]any{}
	for _, a := range n.attrs {
		object["@"+a[0]] = a[1]
	}
	text := ""
	var comments []any
	for _, p := range n.in {
		switch p.kind {
		case "child":
			list, _ := object[p.child.name].([]any)
			object[p.child.name] = append(list, p.child.json())
		case "text", "CDATA":
			text += p.text
		case "comment": // encoding/xml leaves its line ends.
			lines := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(p.text)
			comments = append(comments, strings.Trim(lines, " \t\n"))
		}
	}
	if strings.Trim(text, " \t\r\n") != "" {
		object["#text"] = text
	}
	if comments != nil {
		object["#comment"] = comments
	}
	return object
}

// element generates trees of few names, so that they come again and apart.
func element(depth int) *rapid.Generator[*tree] {
	return rapid.Custom(func(t *rapid.T) *tree {
		name := rapid.SampledFrom([]string{"a", "b", "x:a", "x.y-z_1", "ü"})
		n := &tree{name: name.Draw(t, "name")}
		for _, key := range rapid.SliceOfNDistinct(name, 0, 3, rapid.ID).Draw(t, "keys") {
			n.attrs = append(n.attrs, [2]string{key, characters(t)})
		}
		kinds := []string{"text", "CDATA", "comment", "instruction"}
		if depth > 0 {
			kinds = append(kinds, "child", "child", "child", "child")
		}
		for _, kind := range rapid.SliceOfN(rapid.SampledFrom(kinds), 0, 6).Draw(t, "kinds") {
			p := piece{kind: kind}
			if kind == "child" {
				p.child = element(depth-1).Draw(t, "child")
			} else {
				p.text = characters(t)
				if kind != "text" {
					p.text = strings.ReplaceAll(p.text, "\r", "") // Only a reference keeps it.
				}
				if kind == "comment" {
					p.text = strings.ReplaceAll(p.text, "-", "") // Two would end it.
				}
			}
			n.in = append(n.in, p)
		}
		return n
	})
}

// characters draws text that XML allows.
func characters(t *rapid.T) string {
	char := rapid.SampledFrom([]rune(" \t\n\rab<>&\"'\\/]-?;#é\u2028\ufffd\U0001f600"))
	return rapid.StringOfN(char, 0, 8, -1).Draw(t, "characters")
}

func TestXMLIsItsTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := element(4).Draw(t, "tree")
		var text strings.Builder
		n.write(&text)
		doc, err := as(document.XML, text.String(), document.Limits{})
		if err != nil {
			t.Fatalf("%s: %v", text.String(), err)
		}
		if _, err := as(document.JSON, string(doc.Bytes()), document.Limits{}); err != nil {
			t.Fatalf("%s becomes %s: %v", text.String(), doc.Bytes(), err)
		}
		got, err := decode(doc.Bytes())
		if want := any(map[string]any{n.name: n.json()}); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\nbecomes %s\nwant    %v", text.String(), doc.Bytes(), want)
		}
	})
}

// plainXML reads XML with encoding/xml alone: Token checks whether it is well-formed, and RawToken
// has the names.
func plainXML(data []byte) (any, error) {
	for d := xml.NewDecoder(bytes.NewReader(data)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
	}
	root := &tree{}
	open := []*tree{root}
	for d := xml.NewDecoder(bytes.NewReader(data)); ; {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		written := func(n xml.Name) string { return strings.TrimPrefix(n.Space+":"+n.Local, ":") }
		top := open[len(open)-1]
		switch token := token.(type) {
		case xml.StartElement:
			child := &tree{name: written(token.Name)}
			if token.Name.Space == "" {
				child.name = token.Name.Local
			}
			for _, a := range token.Attr {
				key := a.Name.Local
				if a.Name.Space != "" {
					key = written(a.Name)
				}
				child.attrs = append(child.attrs, [2]string{key, a.Value})
			}
			top.in = append(top.in, piece{kind: "child", child: child})
			open = append(open, child)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			top.in = append(top.in, piece{kind: "text", text: string(token)})
		case xml.Comment:
			top.in = append(top.in, piece{kind: "comment", text: string(token)})
		}
	}
	var element *tree
	for _, p := range root.in {
		if p.kind == "child" && element != nil {
			return nil, errors.New("two elements")
		} else if p.kind == "child" {
			element = p.child
		}
	}
	if element == nil {
		return nil, errors.New("no element")
	}
	return map[string]any{element.name: element.json()}, nil
}

// FuzzXML checks accepted XML against encoding/xml: it is well-formed, and becomes valid JSON
// within the limits, with the content of the tokens.
func FuzzXML(f *testing.F) {
	for _, seed := range []string{
		`<testsuite name="a"><testcase name="t"><failure message="m">boom</failure></testcase></testsuite>`,
		`<a>x<b/><c>1</c><b n="2"/>y<c/></a>`, "<?xml version='1.0' encoding='utf-8'?>\n<a><![CDATA[]]]]><![CDATA[>]]>&lt;&#xD7FF;</a>",
		`<x:a xmlns:x="u" xmlns:y="u" x:b="1" y:b="2"/>`, "\ufeff<a/>", `<!DOCTYPE a [<!ENTITY b "'>">]><a>&b;</a>`, `<a b="1"c='2'/>`,
		`<a><!-- -- --></a>`, `<?p?><a/><!---->`, `<a><?p<b/>?></a>`, "<a>\r\n\r</a>", `<x:y:z/>`, `<a b/>`, `<a/>x`, `<:a a:=""/>`, `<a>&#xD800;</a>`,
		`<a><a><a><a><a/></a></a></a></a>`, "<a><!-- x\r\n\ry --><b><!----></b><!-- - \" --></a>",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		limits := document.Limits{Bytes: 1 << 16, Depth: 16}
		doc, err := as(document.XML, string(data), limits)
		if err != nil {
			if _, ok := err.(*errs.Error); !ok {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		if _, err := as(document.JSON, string(doc.Bytes()), limits); err != nil {
			t.Fatalf("%q becomes %q: %v", data, doc.Bytes(), err)
		}
		want, err := plainXML(bytes.TrimPrefix(data, []byte("\ufeff")))
		if err != nil {
			t.Fatalf("accepted what encoding/xml refuses: %v", err)
		}
		if got, err := decode(doc.Bytes()); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q becomes %q (%v)", data, doc.Bytes(), err)
		}
	})
}
