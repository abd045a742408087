package e2e

import (
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
)

// aside reports whether a request is not part of an agent's work, such as for a title
// or a search: it offers no tools, or only the API's own search.
func aside(r request) bool {
	return len(r.Tools) == 0 || slices.Equal(r.Tools, []string{"web_search"})
}

// critic returns a model that writes its report with these findings, and then its
// message.
func critic(findings ...fakeagent.Finding) scenario {
	return func(r request) reply {
		b := fakeagent.ReadBrief(r.Text)
		report, message := fakeagent.Critique(b, findings...)
		switch {
		case aside(r):
			return reply{text: "Review"}
		case len(r.Results) == 0:
			return writes(r, b.ReportPath, string(report))
		}
		return reply{text: message}
	}
}

// researcher is a model that searches, and then answers.
func researcher(r request) reply {
	switch {
	case aside(r):
		return reply{text: "https://example.com/webhooks says so."}
	case len(r.Results) == 0:
		return reply{tool: "WebSearch", input: map[string]any{"query": "webhook signature"}}
	}
	return reply{text: `{"decisions": [{"text": "Check the signature of each call", "confidence": 0.9, "provenance": "[VERIFIED]"}], "risks": [],
		"questions": [], "sources": [{"url": "https://example.com/webhooks", "title": "Webhooks", "credibility": "high"}], "patterns": []}`}
}

// outside returns a model that writes its report to another file of the project, and
// then reports success.
func outside(name string) scenario {
	return func(r request) reply {
		b := fakeagent.ReadBrief(r.Text)
		report, message := fakeagent.Critique(b)
		switch {
		case aside(r):
			return reply{text: "Review"}
		case len(r.Results) == 0:
			return writes(r, name, string(report))
		}
		return reply{text: message}
	}
}

// unable is a model that answers that it cannot write its report.
func unable(r request) reply {
	b := fakeagent.ReadBrief(r.Text)
	return reply{text: fmt.Sprintf(`{"critic": "critic", "task_id": %q, "round": %d, "run_id": %q, "verdict": "issues_found", "blockers_count": 1,
		"report_path": null, "error": "there is no tool to write with"}`, b.Task, b.Round, b.RunID)}
}

// has reports whether the model may use that tool.
func (r request) has(tool string) bool { return slices.Contains(r.Tools, tool) }

// writes returns the use of the available tool that writes a file.
func writes(r request, path, content string) reply {
	return r.uses(map[string]map[string]any{
		"Write":        {"file_path": path, "content": content},
		"exec_command": {"cmd": "cat > '" + path + "' <<'END_OF_REPORT'\n" + content + "\nEND_OF_REPORT\n"},
		"write":        {"filePath": path, "content": content},
		"write_file":   {"file_path": path, "content": content},
		"create":       {"path": path, "file_text": content},
	})
}

// reads returns the use of the available tool that reads a file.
func reads(r request, path string) reply {
	return r.uses(map[string]map[string]any{
		"Read":         {"file_path": path},
		"exec_command": {"cmd": "cat '" + path + "'"},
		"read":         {"filePath": path},
		"read_file":    {"file_path": path},
		"view":         {"path": path},
	})
}

// replaces returns the use of the available tool that replaces a text in a file.
func replaces(r request, path, old, text string) reply {
	return r.uses(map[string]map[string]any{
		"Edit":         {"file_path": path, "old_string": old, "new_string": text},
		"exec_command": {"cmd": "sed -i 's/" + old + "/" + text + "/' '" + path + "'"},
		"replace":      {"file_path": path, "instruction": "Rename the package", "old_string": old, "new_string": text},
		"edit":         {"filePath": path, "path": path, "oldString": old, "old_str": old, "newString": text, "new_str": text},
	})
}

// commands returns the use of the available tool that runs a shell command.
func commands(r request, command string) reply {
	return r.uses(map[string]map[string]any{
		"Bash":              {"command": command, "description": "Run it"},
		"exec_command":      {"cmd": command},
		"run_shell_command": {"command": command, "description": "Run it"},
		"bash":              {"command": command, "description": "Run it"},
	})
}

// uses returns the use of the first available of these tools, or a text that says that none of
// them is available.
func (r request) uses(inputs map[string]map[string]any) reply {
	for _, tool := range r.Tools {
		if input, ok := inputs[tool]; ok {
			return reply{tool: tool, input: input}
		}
	}
	return reply{text: "There is no tool for it, but " + strings.Join(r.Tools, ", ")}
}

// always returns a model that gives the same answer to every request.
func always(a reply) scenario { return func(request) reply { return a } }

// failsFirst answers the first n requests with a status.
func failsFirst(n, status int, then scenario) scenario {
	return func(r request) reply {
		if r.N <= n {
			return reply{status: status}
		}
		return then(r)
	}
}
