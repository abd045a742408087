package fakeagent

import (
	"cmp"
	"fmt"
	"io"
)

// plain is a program of the user's, which says its final message and nothing else.
type plain struct{ speaker }

func (p *plain) say(text string) { fmt.Fprintln(p.err, text) }
func (p *plain) use(tool Tool)   { fmt.Fprintln(p.err, "tool:", p.took(tool).Name) }
func (p *plain) beat()           { fmt.Fprintln(p.err, "working") }

func (p *plain) final(text string, cut int) {
	if cut > 0 && cut < len(text) {
		text = text[:cut]
	}
	io.WriteString(p.out, text+"\n")
}

func (p *plain) fail(f Failure) int {
	code := 1
	if f.Kind == "usage" {
		code = 2
	}
	fmt.Fprintln(p.err, cmp.Or(f.Message, mock(f.Status)))
	return code
}
