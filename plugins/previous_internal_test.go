package plugins

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
)

// TestPrevious checks which statements about earlier findings the host accepts.
func TestPrevious(t *testing.T) {
	doc, err := document.Parse([]byte(`{"findings":[1],"previous":[{},{}]}`), document.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	p := &Plugin{runtime: New(Config{}), description: abi.Description{Items: []string{"/findings/*", "/previous/*"}}}
	const (
		found  = `{"category":"c","remediation":"r","ref":"/findings/0"}`
		first  = `{"id":"0123456789abcdef","status":"fixed","ref":"/previous/0"}`
		second = `{"id":"fedcba9876543210","status":"open","ref":"/previous/1"}`
	)
	for _, c := range []struct {
		name, findings, skipped, previous string
		want                              abi.Problem
	}{
		{"accounted for", found, "", first + "," + second, ""},
		{"one dropped", found, "", first, abi.Dropped},
		{"one invented", found, "", first + "," + second + `,{"id":"00000000000000ff","status":"open","ref":"/previous/2"}`, abi.Invented},
		{"one ref twice", found, "", first + "," + strings.ReplaceAll(second, "/1", "/0"), abi.Contradicted},
		{"also skipped", found, `{"ref":"/previous/1","reason":"x"}`, first + "," + second, abi.Contradicted},
		{"also a finding", found + "," + strings.ReplaceAll(found, "findings", "previous"), "", first + "," + second, abi.Contradicted},
		{"one id twice", found, "", first + "," + strings.ReplaceAll(first, "/0", "/1"), abi.WrongSchema},
		{"an unknown status", found, "", first + "," + strings.ReplaceAll(second, "open", "done"), abi.WrongSchema},
		{"the host's own status", found, "", first + "," + strings.ReplaceAll(second, "open", "gone"), abi.WrongSchema},
		{"no status", found, "", first + `,{"id":"fedcba9876543210","ref":"/previous/1"}`, abi.WrongSchema},
		{"a short id", found, "", first + "," + strings.ReplaceAll(second, "fedc", ""), abi.WrongSchema},
		{"an id in capitals", found, "", first + "," + strings.ReplaceAll(second, "fedc", "FEDC"), abi.WrongSchema},
		{"another member", found, "", first + "," + strings.ReplaceAll(second, "}", `,"note":"x"}`), abi.WrongSchema},
	} {
		t.Run(c.name, func(t *testing.T) {
			var result abi.Result
			out, err := decodeOutput(fmt.Appendf(nil, `{"critic":"c","findings":[%s],"skipped":[%s],"previous":[%s]}`, c.findings, c.skipped, c.previous))
			if err == nil {
				result, err = checkConservation(t.Context(), p, doc, p.description.Items, out)
			}
			if c.want != "" && !errors.Is(err, c.want) || c.want == "" && err != nil {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			if want := (abi.Statement{ID: "fedcba9876543210", Status: finding.Open, Ref: "/previous/1"}); err == nil && (len(result.Previous) != 2 || result.Previous[1] != want) {
				t.Errorf("got %+v", result.Previous)
			}
		})
	}
	for undoes, want := range map[string]error{`"0123456789abcdef"`: nil, `"0123"`: abi.WrongSchema, `7`: abi.WrongSchema} {
		answer := fmt.Sprintf(`{"critic":"c","findings":[%s],"skipped":[{"ref":"/previous/0","reason":"x"},{"ref":"/previous/1","reason":"x"}]}`, strings.Replace(found, `"ref"`, `"undoes":`+undoes+`,"ref"`, 1))
		var result abi.Result
		out, err := decodeOutput([]byte(answer))
		if err == nil {
			result, err = checkConservation(t.Context(), p, doc, p.description.Items, out)
		}
		if want != nil && !errors.Is(err, want) || want == nil && (err != nil || result.Findings[0].Undoes != "0123456789abcdef") {
			t.Errorf("undoes %s: %+v, %v", undoes, result.Findings, err)
		}
	}
	if _, err := decodeOutput([]byte(`{"error":{"code":"a-b","message":"m"},"previous":[]}`)); !errors.Is(err, abi.WrongSchema) {
		t.Errorf("an error with statements: %v", err)
	}
}
