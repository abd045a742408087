package evidence_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/evidence"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// chain returns events of a task, with hashes.
func chain(name string, seq int64, bodies ...string) []ledger.Event {
	prev := ledger.Genesis
	var events []ledger.Event
	for i, body := range bodies {
		e := ledger.Event{
			Seq: seq + int64(i), Task: name, N: int64(i + 1), At: "2026-11-23T12:00:00.000000000Z", Kind: "note", Body: []byte(body), Prev: prev,
		}
		e.Hash = e.Sum()
		prev = e.Hash
		events = append(events, e)
	}
	return events
}

// record is a valid record of a task.
func record() evidence.Statement {
	r := evidence.Statement{Task: "T", Events: chain("T", 3, `{"a":1}`, `{"a":2}`, `{"a":3}`), Policies: chain(evidence.PolicyChain, 1, `{"p":1}`, `{"p":2}`)}
	r.Head = r.Events[2].Hash
	return r
}

func written(t rapid.TB, r evidence.Statement) []byte {
	t.Helper()
	var text bytes.Buffer
	if err := evidence.Write(&text, r, nil); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

func TestReadProof(t *testing.T) {
	got, err := evidence.ReadProof(written(t, record()), nil, time.Now)
	if err != nil || got.Task != "T" || len(got.Events) != 3 || len(got.Policies) != 2 || string(got.Events[1].Body) != `{"a":2}` {
		t.Fatalf("%+v, %v", got, err)
	}
}

// The ledger stores hidden characters escaped, and the hash covers the escapes.
func TestAProofKeepsTheTextOfEvents(t *testing.T) {
	bodies := []string{`{"a":"\ufe0f\u200d\u00a0\u200b"}`, `{"b":"é<\/\u0041"}`}
	r := evidence.Statement{Task: "T", Events: chain("T", 3, bodies...), Policies: chain(evidence.PolicyChain, 1, bodies...)}
	r.Head = r.Events[1].Hash
	got, err := evidence.ReadProof(written(t, r), nil, time.Now)
	if err != nil || string(got.Events[0].Body) != bodies[0] || string(got.Policies[1].Body) != bodies[1] {
		t.Fatalf("%+v, %v", got, err)
	}
}

func TestAProofOfNoJSONIsNotWritten(t *testing.T) {
	r := record()
	r.Policies = chain(evidence.PolicyChain, 1, `{"p":`)
	var text bytes.Buffer
	if err := evidence.Write(&text, r, nil); errs.CodeOf(err) != errs.LedgerTampered || text.Len() > 0 {
		t.Errorf("it writes %d bytes, %v", text.Len(), err)
	}
}

func TestProofsThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*evidence.Statement)
		says   string
	}{
		"cut at the end":        {func(r *evidence.Statement) { r.Events = r.Events[:2] }, "it was cut: its last event is number 2"},
		"cut at the beginning":  {func(r *evidence.Statement) { r.Events = r.Events[1:] }, "event 1 of T does not follow"},
		"cut in the middle":     {func(r *evidence.Statement) { r.Events = slices.Delete(r.Events, 1, 2) }, "event 2 of T does not follow"},
		"reordered":             {func(r *evidence.Statement) { r.Events[0], r.Events[1] = r.Events[1], r.Events[0] }, "event 1 of T does not follow"},
		"forged":                {func(r *evidence.Statement) { r.Events[2].Body = []byte(`{"a":4}`) }, "event 3 of T is forged"},
		"forged with its hash":  {func(r *evidence.Statement) { r.Events[1].Body = []byte(`{}`); r.Events[1].Hash = r.Events[1].Sum() }, "event 3 of T does not follow"},
		"a foreign event":       {func(r *evidence.Statement) { r.Events[0] = chain("U", 3, `{}`)[0] }, "event 1 is foreign: it is of \"U\" and not of T"},
		"a foreign task":        {func(r *evidence.Statement) { r.Task = "U" }, "event 1 is foreign"},
		"no task":               {func(r *evidence.Statement) { r.Task = "../T" }, "it has no events of a task"},
		"the chain of policies": {func(r *evidence.Statement) { r.Task, r.Events = evidence.PolicyChain, r.Policies }, "it has no events of a task"},
		"nothing":               {func(r *evidence.Statement) { r.Events = nil }, "it has no events of a task"},
		"policies cut":          {func(r *evidence.Statement) { r.Policies = r.Policies[1:] }, "event 1 of _policies does not follow"},
		"policies of a task":    {func(r *evidence.Statement) { r.Policies = chain("T", 1, `{}`) }, "event 1 is foreign"},
		"no time": {func(r *evidence.Statement) {
			r.Events[2].At = "x"
			r.Events[2].Hash = r.Events[2].Sum()
			r.Head = r.Events[2].Hash
		}, "event 3 of T has no time"},
		"policies without time": {func(r *evidence.Statement) { r.Policies[1].At = ""; r.Policies[1].Hash = r.Policies[1].Sum() }, "event 2 of _policies has no time"},
		"out of time":           {func(r *evidence.Statement) { r.Events[2].Seq = 3 }, "event 3 of T does not follow"},
	} {
		r := record()
		c.change(&r)
		_, err := evidence.ReadProof(written(t, r), nil, time.Now)
		if errs.CodeOf(err) != errs.ProofInvalid || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}

// The task's chain is read first: its errors are those that a user can understand.
func TestTheFirstErrorOfAProof(t *testing.T) {
	r := record()
	r.Events, r.Policies = r.Events[1:], r.Policies[1:]
	text := written(t, r)
	for range 20 {
		if _, err := evidence.ReadProof(text, nil, time.Now); !strings.Contains(err.Error(), "event 1 of T does not follow") {
			t.Fatal(err)
		}
	}
}

// A proof that gate does not read is not written.
func TestTheLargestProof(t *testing.T) {
	sized := func(size int) evidence.Statement {
		r := evidence.Statement{Task: "T", Events: chain("T", 1, `"`+strings.Repeat("x", size)+`"`)}
		r.Head = r.Events[0].Hash
		return r
	}
	rest := len(written(t, sized(0)))
	if got := len(written(t, sized(evidence.MaxProof-rest))); got != evidence.MaxProof {
		t.Errorf("the largest proof has %d bytes", got)
	}
	var text bytes.Buffer
	if err := evidence.Write(&text, sized(evidence.MaxProof-rest+1), nil); errs.CodeOf(err) != errs.FileTooLarge || text.Len() > 0 {
		t.Errorf("%d bytes, %v", text.Len(), err)
	}
}

// No change of a byte of the record is accepted as the same evidence.
func TestAChangedByteIsNoEvidence(t *testing.T) {
	text := written(t, record())
	want, err := evidence.ReadProof(text, nil, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		changed := bytes.Clone(text)
		i := rapid.IntRange(0, len(text)-1).Draw(t, "at")
		changed[i] = rapid.Byte().Draw(t, "byte")
		got, err := evidence.ReadProof(changed, nil, time.Now)
		switch {
		case err != nil:
			if errs.CodeOf(err) != errs.ProofInvalid {
				t.Fatal(err)
			}
		case got.Head != want.Head:
			t.Fatalf("it was accepted with head %s", got.Head)
		default:
			for n, e := range got.Events {
				if e.Hash != want.Events[n].Hash || !bytes.Equal(e.Body, want.Events[n].Body) {
					t.Fatalf("event %d was accepted as %+v", n+1, e)
				}
			}
		}
	})
}

func FuzzReadProof(f *testing.F) {
	f.Add(written(f, record()))
	f.Add([]byte(`{"record":{},"signature":{}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := evidence.ReadProof(text, nil, time.Now); err != nil && errs.CodeOf(err) != errs.ProofInvalid {
			t.Fatal(err)
		}
	})
}
