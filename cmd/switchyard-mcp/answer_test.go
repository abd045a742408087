package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/finding"
)

// overfull is an engine with a task of many findings.
type overfull struct{ fakeEngine }

func (*overfull) Findings(_ context.Context, id string, round int, deferred bool) (api.FindingList, error) {
	list := api.FindingList{TaskID: id, Round: round, Deferred: deferred}
	for range 100_000 {
		list.Findings = append(list.Findings, api.ListedFinding{Finding: finding.Finding{Category: "style", Remediation: strings.Repeat("x", 100)}})
	}
	return list, nil
}

// TestLargeAnswer tests that an answer leaves out a list that is too large, and says so.
func TestLargeAnswer(t *testing.T) {
	ours, theirs := mcp.NewInMemoryTransports()
	s := &server{engine: &overfull{}, slots: make(chan struct{}, maxRunning)}
	go func() { _ = s.serve(t.Context(), false, ours) }()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "findings", Arguments: map[string]any{"task": "T", "round": 2, "deferred": true}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(r.StructuredContent, json.Deterministic(true))
	const want = `{"deferred":true,"findings":null,"left_out":{"command":"switchyard --output json findings T --round 2 --deferred","lists":{"/findings":100000}},"round":2,"task_id":"T"}`
	if err != nil || string(got) != want {
		t.Errorf("the structured content is (%v)\n%.500s\nwant\n%s", err, got, want)
	}
	text := r.Content[0].(*mcp.TextContent).Text
	const note = "\nleft out of the structured content: 100000 items in /findings\nswitchyard --output json findings T --round 2 --deferred has all of it\n"
	if !strings.HasSuffix(text, note) || len(text) > maxAnswer {
		t.Errorf("the text has %d bytes, and ends with %q", len(text), text[max(0, len(text)-300):])
	}
}

func TestFit(t *testing.T) {
	large := `"` + strings.Repeat("x", maxAnswer/2) + `"`
	for _, test := range []struct {
		name, object, want string
	}{
		{"small", `{"a":[1]}`, `{"a":[1]}`},
		{"below objects", `{"a":{"b":[` + large + `,2],"c":[` + large + `,` + large + `]},"d":[[],[3]]}`,
			`{"a":{"b":[` + large + `,2],"c":null},"d":[[],[3]],"left_out":{"lists":{"/a/c":2},"command":"C"}}`},
		{"several", `{"a":[` + large + `,` + large + `],"b":[` + large + `,` + large + `,{"c":[]}]}`,
			`{"a":null,"b":null,"left_out":{"lists":{"/a":2,"/b":3},"command":"C"}}`},
		{"without a list", `{"a":` + large + `,"b":` + large + `}`, `{"a":` + large + `,"b":` + large + `}`},
	} {
		got, _, err := fit([]byte(test.object), "C")
		if err != nil || !bytes.Equal(got, []byte(test.want)) || !jsontext.Value(got).IsValid() {
			t.Errorf("%s: %v, %d bytes, want %d: %.60s … %s", test.name, err, len(got), len(test.want), got, got[max(0, len(got)-120):])
		}
	}
	text := strings.Repeat("line\n", maxAnswer/4)
	cut := fitText(text, leftOut{Command: "C"})
	if want := "line\n\nleft out here: the rest of the text\nC has all of it\n"; !strings.HasSuffix(cut, want) || len(cut) > maxAnswer+len(want) {
		t.Errorf("the text has %d bytes, and ends with %q", len(cut), cut[len(cut)-100:])
	}
}
