package prompt_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/agent/prompt"
)

// TestFieldsAreDocumented compares the tables of docs/agents.md with the fields,
// which the message about an unknown one lists.
func TestFieldsAreDocumented(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "agents.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name, render := range map[string]func(root string) (string, error){
		"critic":     func(root string) (string, error) { return prompt.Render(root, "critic", critic()) },
		"researcher": func(root string) (string, error) { return prompt.Render(root, "researcher", researcher()) },

		"executor":     func(root string) (string, error) { return prompt.Render(root, "executor", executor()) },
		"plan-checker": func(root string) (string, error) { return prompt.Render(root, "plan-checker", planChecker()) },
		"assistant":    func(root string) (string, error) { return prompt.Render(root, "assistant", assistant()) },
	} {
		_, err := render(templated(t, name+".md", "{{-}}"))
		if err == nil {
			t.Fatal("a field that there is none of was accepted")
		}
		_, list, _ := strings.Cut(err.Error(), "the fields are ")
		_, table, _ := strings.Cut(string(data), "| "+name+"'s field |")
		table, _, _ = strings.Cut(table, "\n\n")
		var documented []string
		for row := range strings.Lines(table) {
			cells := strings.Split(row, "|")
			for _, match := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(cells[min(1, len(cells)-1)], -1) {
				documented = append(documented, match[1])
			}
		}
		slices.Sort(documented)
		if got := strings.Join(documented, ", "); got == "" || got != list {
			t.Errorf("the %s's documented fields are %s\nand those of the program %s", name, got, list)
		}
	}
}
