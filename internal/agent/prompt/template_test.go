package prompt_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/agent/prompt"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// body is the prompt below its head.
func body(text string) string {
	_, below, _ := strings.Cut(text, "\n\n")
	return below
}

func TestTemplates(t *testing.T) {
	c := prompt.Data{Task: "T", Round: 1, MaxRounds: 3, ReportPath: "/r", Plan: "p", Modules: []prompt.Module{{"m", "M"}}}
	const m = "## Module m\n\nM\n"
	for name, test := range map[string]struct{ template, want string }{
		"fields":                    {"{{ round }}/{{max_rounds}} {{task_id}} {{modules}}", "1/3 \"T\" " + m},
		"a section that is there":   {"{{#plan}}plan {{plan}}{{/plan}} {{modules}}", "plan \"p\" " + m},
		"a section that is not":     {"a{{#diff}} diff {{diff}}{{/diff}} {{modules}}", "a " + m},
		"sections in lines of them": {"a\n{{#plan}}\nb\n{{/plan}}\n  {{#diff}}  \nc\n{{/diff}}\nd\n{{modules}}", "a\nb\nd\n" + m},
		"nested":                    {"{{#plan}}a{{#diff}}b{{/diff}}c{{/plan}}{{#diff}}d{{#plan}}e{{/plan}}f{{/diff}} {{modules}}", "ac " + m},
		"a field in a hidden one":   {"{{#diff}}{{modules}}{{/diff}}x", "x\n"},
		"braces":                    {"} }} { {x} {{modules}}", "} }} { {x} " + m},
		"carriage returns":          {"\uFEFFa\r\n{{#plan}}\r\nb\r\n{{/plan}}\r\n{{modules}}\r\n", "a\nb\n" + m},
		"a value with tags":         {"{{modules}}", m},
	} {
		if got := rendered(t, templated(t, "critic.md", test.template), c); body(got) != test.want {
			t.Errorf("%s: %q", name, body(got))
		}
	}
}

func TestTemplatesThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		template string
		line     any
		says     string
	}{
		"empty":              {"", nil, "leaves out {{modules}}"},
		"no modules":         {"{{#modules}}x{{/modules}}", nil, "leaves out {{modules}}"},
		"unknown":            {"{{modules}}\n{{secret}}", 2, "economy, files"},
		"unknown, hidden":    {"{{modules}}{{#diff}}\n\n{{secret}}{{/diff}}", 3, `no field "secret"`},
		"unknown, long":      {strings.Repeat("x", 100) + "{{" + strings.Repeat("y", 1000) + "}}", 1, strings.Repeat("y", 64) + `…"`},
		"no name":            {"{{}}", 1, `no field ""`},
		"unknown section":    {"{{#secret}}{{/secret}}", 1, `"secret"`},
		"not closed":         {"{{modules", 1, "without }}"},
		"over lines":         {"x\n{{modules\n}}", 2, "without }}"},
		"no end":             {"a\n{{#plan}}\n{{modules}}", 2, "{{#plan}} has no end"},
		"no begin":           {"{{modules}}{{/plan}}", 1, "not the last one begun"},
		"crossed":            {"{{#plan}}{{#diff}}{{/plan}}{{/diff}}", 1, "not the last one begun"},
		"not UTF-8":          {"{{modules}}\xff", nil, "UTF-8"},
		"too large":          {strings.Repeat("x", 1<<20+1), nil, "larger than"},
		"template's actions": {"{{range .Files}}{{.}}{{end}}", 1, "no field"},
	} {
		text, err := prompt.Render(templated(t, "critic.md", c.template), "critic", critic())
		f, ok := errors.AsType[*errs.Error](err)
		if !ok || f.Code != errs.PromptTemplateInvalid || text != "" || !strings.Contains(f.Message, c.says) || f.Details["line"] != c.line {
			t.Errorf("%s: %v (%v)", name, err, text)
		} else if f.Details["path"] != ".switchyard/prompts/critic.md" || strings.Contains(f.Message, "\n") {
			t.Errorf("%s: %+v", name, f)
		}
	}
	for _, text := range []string{"{{nudge}}", "{{question}}", "{{question}}{{nudge}}{{modules}}"} {
		if _, err := prompt.Render(templated(t, "researcher.md", text), "researcher", researcher()); errs.CodeOf(err) != errs.PromptTemplateInvalid {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestTemplatesComeFromTheProjectAlone: no link leads elsewhere, and what is there
// and cannot be read is not passed over.
func TestTemplatesComeFromTheProjectAlone(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "critic.md")
	if err := os.WriteFile(outside, []byte("secret {{modules}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"out": outside, "nowhere": "none.md", "itself": "critic.md", "a directory": "."} {
		root := templated(t, "other.md", "")
		if err := os.Symlink(target, filepath.Join(root, ".switchyard", "prompts", "critic.md")); err != nil {
			t.Skipf("this system makes no symbolic links: %v", err)
		}
		if text, err := prompt.Render(root, "critic", critic()); errs.CodeOf(err) != errs.PromptTemplateInvalid || text != "" || strings.Contains(err.Error(), outside) {
			t.Errorf("a link to %s: %v %s", name, err, text)
		}
	}
	if _, err := prompt.Render(filepath.Join(t.TempDir(), "none"), "critic", critic()); errs.CodeOf(err) != errs.PromptTemplateInvalid {
		t.Errorf("no root: %v", err)
	}
	if got, want := rendered(t, t.TempDir(), critic()), rendered(t, "", critic()); got != want {
		t.Error("a project without a template has another than ours")
	}
	// Another agent's template is not this one's.
	rendered(t, templated(t, "researcher.md", "{{nonsense}}"), critic())
}

// FuzzTemplate: any text is a template, or a typed error.
func FuzzTemplate(f *testing.F) {
	for _, text := range []string{"{{modules}}", "a{{#plan}}b{{/plan}}{{modules}}", "{{#plan}}\n{{#diff}}\n{{/diff}}\n{{/plan}}", "{{{{}}}}", "{{#}}{{/}}"} {
		f.Add(text)
	}
	root := f.TempDir()
	if err := os.MkdirAll(filepath.Join(root, ".switchyard", "prompts"), 0o700); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(filepath.Join(root, ".switchyard", "prompts", "critic.md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := prompt.Render(root, "critic", critic())
		if err != nil && (errs.CodeOf(err) != errs.PromptTemplateInvalid || got != "") {
			t.Fatalf("%v, %q", err, got)
		}
		if err == nil && !strings.HasPrefix(got, "task_id: M001-S001-T0001\n") {
			t.Fatalf("%q", got)
		}
	})
}
