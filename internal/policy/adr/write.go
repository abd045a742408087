package adr

import (
	"bytes"
	"cmp"

	"go.yaml.in/yaml/v3"
)

// Update returns the text of a record with its front matter changed and its body
// unchanged, byte by byte. Keys have a fixed order; comments stay with their keys.
// Changes to Name, Number, File and Title have no effect: they come from the file's name
// and body.
//
// # Errors
//
// adr-invalid if text is not a record before or after the change.
func Update(file string, text []byte, change func(*Record)) ([]byte, error) {
	r, p, err := parse(file, text)
	if err != nil {
		return nil, err
	}
	change(&r)
	updated := render(r, p)
	_, err = Parse(file, updated)
	return updated, err
}

// Format returns the text of a new record: the front matter, the heading and the body,
// separated by empty lines.
//
// # Errors
//
// adr-invalid if that is not a record.
func Format(r Record, body string) ([]byte, error) {
	if err := CheckTitle(r.Title); err != nil {
		return nil, invalid(r.File, 0, "%w", err)
	}
	text := render(r, page{body: []byte("\n# " + r.Name + ": " + r.Title + "\n\n" + body), end: "\n"})
	_, err := Parse(r.File, text)
	return text, err
}

// render writes a record's front matter, followed by a page's body. Its callers parse the result.
func render(r Record, p page) []byte {
	var root yaml.Node
	_ = root.Encode(r) // cannot fail: it has only texts and numbers
	date := root.Content[3]
	date.Tag, date.Style = "!!timestamp", 0 // without quotes
	if p.front != nil {
		carry(p.front, &root)
	}
	var out bytes.Buffer
	out.WriteString(fence + "\n")
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	_ = cmp.Or(e.Encode(&root), e.Close()) // writing to a buffer cannot fail
	out.WriteString(fence + "\n")
	text := bytes.ReplaceAll(out.Bytes(), []byte("\n"), []byte(p.end))
	return append(text, p.body...)
}

// carry copies the comments of the old front matter to the same keys and list positions
// of the new one.
func carry(from, to *yaml.Node) {
	to.HeadComment, to.LineComment, to.FootComment = from.HeadComment, from.LineComment, from.FootComment
	if from.Kind != to.Kind {
		return
	}
	switch to.Kind {
	case yaml.SequenceNode:
		for i := range min(len(from.Content), len(to.Content)) {
			carry(from.Content[i], to.Content[i])
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(to.Content); i += 2 {
			for j := 0; j+1 < len(from.Content); j += 2 {
				if from.Content[j].Value == to.Content[i].Value {
					carry(from.Content[j], to.Content[i])
					carry(from.Content[j+1], to.Content[i+1])
				}
			}
		}
	}
}
