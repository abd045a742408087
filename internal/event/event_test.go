package event_test

import (
	"bytes"
	_ "embed"
	"errors"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// events is an export by the program from before this package existed.
//
//go:embed testdata/events.jsonl
var events []byte

func TestTamperedNamesAnyTask(t *testing.T) {
	cause := errors.New("it is gone")
	err := event.Tampered("a%db", "event %d: %w", 3, cause)
	if err.Error() != "the record of task a%db was changed: event 3: it is gone" || !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
}

func TestNullIsNotAnEvent(t *testing.T) {
	for _, body := range []string{`{"by":"a","event":null}`, `{"by": "a", "event": null}`} {
		if b, err := event.Decode(ledger.Event{Kind: "work-begun", Body: []byte(body)}); err == nil {
			t.Errorf("%s is %+v", body, b)
		}
	}
}

// TestBodiesKeepTheirBytes checks that events of older programs are read completely and
// written with the same bytes.
func TestBodiesKeepTheirBytes(t *testing.T) {
	for line := range bytes.Lines(events) {
		var e ledger.Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		if _, err := event.Decode(e); err != nil {
			t.Errorf("%s %d: %v", e.Task, e.N, err)
		}
		body, err := event.DecodeFull(e)
		if err != nil {
			t.Fatalf("%s %d: %v", e.Task, e.N, err)
		}
		text, err := body.Encode()
		if err != nil || !bytes.Equal(text, e.Body) {
			t.Errorf("%s %d: %v\n%s\nwant\n%s", e.Task, e.N, err, text, e.Body)
		}
	}
}
