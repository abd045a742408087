package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Genesis is the Prev of every task's first event: 64 zeros.
const Genesis = "0000000000000000000000000000000000000000000000000000000000000000"

// chainFormat begins the hashed text. It changes if the layout of the text does.
const chainFormat = "switchyard.event.v1"

// TimeFormat is RFC 3339 with nanoseconds, always in UTC: all values have the same length
// and sort as text.
const TimeFormat = "2006-01-02T15:04:05.000000000Z"

// The limits of an event.
const (
	// MaxBody is the longest body or state that AppendAll accepts, in bytes.
	MaxBody = 64 << 20
	maxTask = 128
	maxKind = 64
)

// Event is a recorded event. Its JSON keeps the bytes that its hash covers.
type Event struct {
	// Seq counts the ledger's events from 1 in the order of their recording.
	// The hash does not cover it.
	Seq int64 `json:"seq"`
	// Task is the task's id.
	Task string `json:"task"`
	// N counts the task's events from 1.
	N int64 `json:"n"`
	// At is the time of the event by its writer's clock, in TimeFormat.
	At string `json:"at"`
	// Kind is chosen by the caller: [a-z][a-z0-9-]{0,63}.
	Kind string `json:"kind"`
	// Body is the caller's JSON on one line.
	Body jsontext.Value `json:"body"`
	// Prev is the Hash of the task's event before it, or Genesis.
	Prev string `json:"prev"`
	// Hash is the Sum of the event when it was recorded.
	Hash string `json:"hash"`
}

// Sum computes the event's hash: SHA-256 in 64 hex digits over the format's name, Prev,
// Task, N, At, Kind and Body, separated by newlines. Only Body could contain a newline, so
// different events have different texts.
func (e Event) Sum() string {
	h := sha256.New()
	h.Write([]byte(chainFormat + "\n" + e.Prev + "\n" + e.Task + "\n" + strconv.FormatInt(e.N, 10) + "\n" + e.At + "\n" + e.Kind + "\n"))
	h.Write(e.Body)
	return hex.EncodeToString(h.Sum(nil))
}

// Time returns At in UTC, or the zero time if a tampered event has no valid time.
func (e Event) Time() time.Time {
	t, err := time.Parse(TimeFormat, e.At)
	if err != nil {
		return time.Time{}
	}
	return t
}

// eventsOf returns the events of batches, without Seq, Prev and Hash.
func eventsOf(at time.Time, batches []Batch) ([]Event, error) {
	var events []Event
	seen := make(map[string]bool, len(batches))
	for _, b := range batches {
		if seen[b.Task] {
			return nil, invalid("there are two batches of %q", b.Task)
		}
		seen[b.Task] = true
		if len(b.Events) == 0 && !isTask(b.Task) {
			return nil, invalid("%q is not a task id", b.Task)
		}
		if b.After < 0 || b.After > math.MaxInt64-int64(len(b.Events)) {
			return nil, invalid("an event cannot follow event %d", b.After)
		}
		for i, d := range b.Events {
			e := Event{Task: b.Task, N: b.After + int64(i) + 1, At: at.UTC().Format(TimeFormat), Kind: d.Kind}
			err := e.checkForm()
			if err == nil {
				e.Body, err = canonicalBody(d.Body)
			}
			if err != nil {
				return nil, err
			}
			events = append(events, e)
		}
	}
	if len(events) == 0 {
		return nil, invalid("there is no event to record")
	}
	return events, nil
}

// canonicalBody returns the stored form of a body: one line, with hidden characters escaped
// and with strings as json.Marshal writes them, so that an export has exactly the hashed
// bytes.
func canonicalBody(body jsontext.Value) (jsontext.Value, error) {
	body = body.Clone()
	if err := canonicalize(&body); err != nil {
		return nil, invalid("the body is not JSON: %w", err)
	}
	if body = textutil.JSON(body); len(body) > MaxBody {
		return nil, invalid("the body has %d bytes, more than %d", len(body), MaxBody)
	}
	return body, nil
}

func (e Event) checkForm() error {
	if !isTask(e.Task) {
		return invalid("%q is not a task id", e.Task)
	}
	if !isKind(e.Kind) {
		return invalid("%q is not a kind of event", e.Kind)
	}
	if !e.Time().After(time.Time{}) { // It is before the year 1 or not a time.
		return invalid("%q is not a time of an event", e.At)
	}
	return nil
}

const (
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits = "0123456789"
)

// isTask reports whether s is [A-Za-z0-9_][A-Za-z0-9._-]{0,127}: a task id, or the name of
// another chain, which begins with an underscore.
func isTask(s string) bool {
	return isWord(s, maxTask, lower+upper+digits+"_", lower+upper+digits+"._-")
}

// isKind reports whether s is [a-z][a-z0-9-]{0,63}.
func isKind(s string) bool { return isWord(s, maxKind, lower, lower+digits+"-") }

// isKey reports whether s has the form of an Entry's key.
func isKey(s string) bool {
	return isWord(s, maxKey, lower+upper+digits+"./_:-", lower+upper+digits+"./_:-")
}

// isWord reports whether s has 1 to limit bytes, of which the first is in first and each is
// in all.
func isWord(s string, limit int, first, all string) bool {
	return 0 < len(s) && len(s) <= limit && strings.IndexByte(first, s[0]) >= 0 && strings.Trim(s, all) == ""
}
