package main

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
)

// TestLastResult: of what a program prints, the last line is found that says how a
// run ended, and no line that merely has such a text in it.
func TestLastResult(t *testing.T) {
	const (
		event  = `{"type":"assistant","text":"\"type\":\"result\",\"is_error\":false"}` + "\n"
		early  = `{"type":"result","is_error":false,"result":"early"}` + "\n"
		last   = `{"is_error":true,"result":"last","type":"result"}`
		others = `{"type":"result","exitCode":0}` + "\n" // another CLI's
	)
	long := `{"type":"result","is_error":false,"result":"` + strings.Repeat("x", adapter.MaxDocument) + "\"}\n"
	for name, c := range map[string]struct{ output, want string }{
		"nothing":            {"", ""},
		"text":               {"I am done.\n", ""},
		"no result":          {event + others, ""},
		"one":                {event + last, last},
		"the last of two":    {early + event + last + "\n" + event, last + "\n"},
		"colour of a banner": {"\x1b[1mHello\x1b[0m\n" + last + "\r\n", last + "\r\n"},
		"cut short":          {early + last[:len(last)-1], early},
		"in several lines":   {"{\n  \"type\": \"result\",\n  \"is_error\": false\n}\n", ""},
		"no word":            {`{"type":"result","is_error":"no"}` + "\n", ""},
		"no UTF-8":           {"{\"type\":\"result\",\"is_error\":false,\"result\":\"\xff\"}", "{\"type\":\"result\",\"is_error\":false,\"result\":\"\xff\"}"},
		"too long":           {early + long + event, early},
		"behind a long one":  {long + early, early},
	} {
		at, size, err := lastResult(strings.NewReader(c.output))
		if got := c.output[at : at+size]; err != nil || got != c.want {
			t.Errorf("%s: %.80q, %v", name, got, err)
		}
	}
	broken := errors.New("broken")
	if _, _, err := lastResult(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}
