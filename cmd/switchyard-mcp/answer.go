package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// maxAnswer is the maximum size in bytes of an answer's structured content, and of its text.
const maxAnswer = 8 << 20

// leftOut says which lists an answer has as null, and where to read them.
type leftOut struct {
	// Lists has the number of items of each list, by its JSON Pointer.
	Lists map[jsontext.Pointer]int `json:"lists"`
	// Command prints all of it.
	Command string `json:"command"`
}

// fit replaces the largest lists of an object by null until it is not too large, and appends
// the member left_out. An empty list instead would look like an answer without findings.
func fit(object []byte, command string) ([]byte, leftOut, error) {
	left := leftOut{Lists: make(map[jsontext.Pointer]int), Command: command}
	for len(object) > maxAnswer {
		list, err := largestList(object)
		if err != nil || list.count == 0 {
			return object, left, err
		}
		left.Lists[list.at] = list.count
		object = append(append(object[:list.begin:list.begin], "null"...), object[list.end:]...)
	}
	if len(left.Lists) == 0 {
		return object, left, nil
	}
	member, err := json.Marshal(left, json.Deterministic(true))
	return fmt.Appendf(object[:len(object)-1], `,"left_out":%s}`, member), left, err
}

// list is a list in a text: its place, its first byte and the byte after it, and the number of
// its items.
type list struct {
	at         jsontext.Pointer
	begin, end int64
	count      int
}

// largestList returns the largest list of an object that is not in another list.
func largestList(object []byte) (largest list, err error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(object), jsontext.AllowInvalidUTF8(true))
	for err == nil && (d.StackDepth() > 0 || d.InputOffset() == 0) {
		if d.PeekKind() != '[' {
			_, err = d.ReadToken()
			continue
		}
		if _, err = d.ReadToken(); err != nil {
			break
		}
		found := list{at: d.StackPointer(), begin: d.InputOffset() - 1}
		for ; err == nil && d.PeekKind() != ']'; found.count++ {
			err = d.SkipValue()
		}
		if err == nil {
			_, err = d.ReadToken()
		}
		if found.end = d.InputOffset(); found.count > 0 && found.end-found.begin > largest.end-largest.begin {
			largest = found
		}
	}
	return largest, err
}

// fitText cuts a text that is too large after a line, and says what its answer leaves out.
func fitText(text string, left leftOut) string {
	cut := len(text) > maxAnswer
	if cut {
		text = text[:strings.LastIndexByte(text[:maxAnswer], '\n')+1]
	}
	var note strings.Builder
	for _, at := range slices.Sorted(maps.Keys(left.Lists)) {
		fmt.Fprintf(&note, "left out of the structured content: %s in %s\n", textutil.Count(left.Lists[at], "item"), at)
	}
	if cut {
		note.WriteString("left out here: the rest of the text\n")
	}
	if note.Len() == 0 {
		return text
	}
	return text + "\n" + note.String() + left.Command + " has all of it\n"
}
