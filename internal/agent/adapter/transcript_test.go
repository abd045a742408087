package adapter_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
)

// partsOf returns the parts of an output, each in a line.
func partsOf(t testing.TB, name, output string) string {
	t.Helper()
	var b strings.Builder
	err := embedded(t, name).ReadTranscript(iotest.HalfReader(strings.NewReader(output)), func(s adapter.Part) {
		text := s.Text
		if len(text) > 200 {
			text = fmt.Sprintf("%.40s… (%d)", text, len(text))
		}
		fmt.Fprintf(&b, "%s %s%q\n", s.Kind, s.Name, text)
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestReadOfRecordings has what a person reads of the runs of real CLIs.
func TestReadOfRecordings(t *testing.T) {
	const (
		input = `{\"file_path\":\"/project/report.md\",\"content\":\"# Findings\\n\\n- F1: mock finding one\\n- F2: mock finding two\\n\"}`
		final = `text "{\"status\":\"ok\",\"findings_path\":\"/project/report.md\",\"count\":2}"` + "\n"
		begin = `text "Writing the report."` + "\n"
	)
	for file, want := range map[string]string{
		"claude-2.1.329-stream-write.jsonl": begin + `tool Write"` + input + "\"\n" +
			`result "The file /project/report.md has been updated successfully. (file state is current in your context — no need to Read it back)"` + "\n" + final,
		"claude-2.1.329-write-ok.json": final,
		"codex-0.169.0-write-ok.jsonl": "error \"Model metadata for `gpt-5.4` not found. Defaulting to fallback metadata; this can degrade performance and cause issues.\"\n" +
			begin + `tool command_execution"/bin/bash -lc \"cat > /project/report.md <<'EOR'\n# Findings\n\n- F1: mock finding one\n- F2: mock finding two\nEOR\""` + "\n" +
			"result \"\"\n" + final,
		"gemini-0.61.0-stream-write.jsonl": begin + `tool write_file"` + input + "\"\n" + final,
		"opencode-1.18.33-write-ok.jsonl": begin + `tool write"` + strings.Replace(input, "file_path", "filePath", 1) + "\"\n" +
			`result "Wrote file successfully."` + "\n" + final,
		"copilot-1.0.102-ok.jsonl": begin + `tool write"` + strings.Replace(input, "file_path", "filePath", 1) + "\"\n" +
			`result "Tool 'write' does not exist."` + "\n" + final,
		"opencode-1.18.33-e401-rc1.jsonl": `error "mock 401"` + "\n",
	} {
		text, err := os.ReadFile(filepath.Join(recorded, file))
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(file, "-")
		if got := partsOf(t, name, string(text)); got != want {
			t.Errorf("%s:\n%swant\n%s", file, got, want)
		}
	}
}

// TestReadOfAnyOutput has what no rule explains.
func TestReadOfAnyOutput(t *testing.T) {
	for _, c := range []struct{ adapter, output, want string }{
		{"claude", "", ""},
		{"claude", "a banner\n{\"type\":\"new\",\"n\":1}\n{}", "line \"a banner\"\nline \"{\\\"type\\\":\\\"new\\\",\\\"n\\\":1}\"\nline \"{}\"\n"},
		{"claude", "{\n  \"a\": 1\n", "line \"{  \\\"a\\\": 1\\n\"\n"},
		{"claude", strings.Repeat("x", adapter.MaxDocument+1) + "\nnext\n", "line \"(a line or object of more than 2 MiB)\"\nline \"next\"\n"},
		{"claude", `{"type":"assistant","message":{"content":[{"type":"tool_use","name":"A"},{"type":"tool_use","name":"B","input":{}}]}}`, "tool A\"\"\ntool B\"\"\n"},
		{"claude", `{"type":"result","is_error":true,"result":"no"}`, "text \"no\"\n"},
		{"gemini", `{"type":"message","role":"assistant","content":"one, "}` + "\n" + `{"type":"message","role":"assistant","content":"two"}` + "\nlog\n",
			"text \"one, two\"\nline \"log\"\n"},
		{"gemini", `{"type":"message","role":"assistant","content":"the key ghp_0123456789"}` + "\n" + `{"type":"message","role":"assistant","content":"0123456789abc"}`,
			"text \"the key [REDACTED:github-token]\"\n"},
		{"exec", "{\"a\":1}\r\n  two\n\nend", "line \"{\\\"a\\\":1}\"\nline \"  two\"\nline \"\"\nline \"end\"\n"},
		{"exec", strings.Repeat("x", 1<<20+1), "line \"" + strings.Repeat("x", 40) + "… (1048576)\"\nline \"x\"\n"},
	} {
		if got := partsOf(t, c.adapter, c.output); got != c.want {
			t.Errorf("%s: %.80q:\n%swant\n%s", c.adapter, c.output, got, c.want)
		}
	}
	for _, name := range []string{"claude", "exec"} {
		broken := errors.New("broken")
		if err := embedded(t, name).ReadTranscript(iotest.ErrReader(broken), func(adapter.Part) {}); !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
