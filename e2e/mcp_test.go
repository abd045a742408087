package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
)

// TestMCP registers the MCP server with Claude Code, as docs/mcp.md says. Claude Code calls the
// tools: it asks for the next action, and submits a report.
func TestMCP(t *testing.T) {
	r := newRig(t)
	r.needs(t, "claude")
	r.build(t)
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Dir(r.switchyard), "github.com/switchyard-dev/switchyard/cmd/switchyard-mcp")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const clean = `{"critic": "critic", "findings": []}`
	var mu sync.Mutex
	var results []string
	base := r.model.url("mcp", func(q request) reply {
		if !slices.Contains(q.Tools, "mcp__switchyard__next") {
			return reply{text: "ok"}
		}
		mu.Lock()
		defer mu.Unlock()
		switch results = q.Results; len(results) {
		case 0:
			return reply{tool: "mcp__switchyard__next", input: map[string]any{"task": "T"}}
		case 1:
			return reply{tool: "mcp__switchyard__submit_report", input: map[string]any{"task": "T", "report": clean}}
		default:
			return reply{text: "done"}
		}
	})
	p := &project{rig: r, dir: t.TempDir()}
	p.env = []string{
		"PATH=" + filepath.Dir(r.switchyard) + string(filepath.ListSeparator) + os.Getenv("PATH"), "HOME=" + t.TempDir(), "SWITCHYARD_CACHE_DIR=" + r.cache,
		"HTTPS_PROXY=" + r.model.server.URL, "HTTP_PROXY=" + r.model.server.URL, "NO_PROXY=127.0.0.1",
		"ANTHROPIC_BASE_URL=" + base, "ANTHROPIC_API_KEY=dummy", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "SWITCHYARD_USER=ann",
		// By default it starts without a server that a busy machine has not started in five seconds.
		"MCP_TIMEOUT=90000", "MCP_CONNECT_TIMEOUT_MS=90000",
	}
	p.write(t, "fails.json", `{"critic": "critic", "findings": [{"category": "style", "file": "a.go", "line": 1, "remediation": "Rename it"}]}`)
	p.git(t, "init", "-q")
	ctx, cancel := context.WithTimeout(t.Context(), roundTime)
	defer cancel()
	run := func(program string, args ...string) string {
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Dir, cmd.Env = p.dir, p.env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", filepath.Base(program), args, err, out)
		}
		return string(out)
	}
	run(r.switchyard, "round", "T", "--report", "fails.json")
	claude := r.programs["claude"]
	run(claude, "mcp", "add", "switchyard", "--", "switchyard", "mcp", "--allow-mutations")
	said := run(claude, "--print", "What is next for T?", "--permission-mode", "dontAsk", "--allowedTools", "mcp__switchyard__next,mcp__switchyard__submit_report")

	mu.Lock()
	defer mu.Unlock()
	if len(results) != 2 || !strings.Contains(results[0], "Rename it") || !strings.Contains(results[1], "commit") {
		t.Fatalf("the tools returned %q, and the agent said %s", results, said)
	}
	var explained struct {
		By       string
		Decision struct {
			NextAction string `json:"next_action"`
		}
	}
	if err := json.Unmarshal([]byte(run(r.switchyard, "explain", "T", "--output", "json")), &explained, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	if explained.Decision.NextAction != "commit" || explained.By != "ann" {
		t.Errorf("recorded: %+v", explained)
	}
}
