package project_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// tasksOf reads a tasks file in the directory plan of a project with a file plan/login.md.
func tasksOf(t *testing.T, text string) ([]project.Task, error) {
	t.Helper()
	root := t.TempDir()
	p := project.Project{Root: filepath.Join(root, "project"), Dir: filepath.Join(root, "project")}
	for name, content := range map[string]string{
		"project/plan/tasks.yaml": text, "project/plan/login.md": "Add a login.\n", "project/top.md": "top", "project/plan/blank.md": " \n",
		"project/plan/latin.md": "caf\xe9", "project/plan/big.md": strings.Repeat("x", task.MaxPrompt+1), "secret.md": "secret",
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(root, "secret.md"), filepath.Join(p.Root, "plan", "link.md")); err != nil {
		t.Skipf("no symbolic links: %v", err)
	}
	return p.Tasks(t.Context(), "plan/tasks.yaml", false)
}

func TestTasks(t *testing.T) {
	got, err := tasksOf(t, `tasks:
  - id: login
    prompt_file: login.md
    base: main
    verify: go test ./auth
    budget: {task: {tokens: 9}, spawn: {tokens: 3}}
  - {id: "2", prompt: " Two\n", depends_on: [login, top]}
  - {id: top, prompt_file: ../top.md}
`)
	want := []project.Task{
		{ID: "login", Prompt: "Add a login.", Base: "main", Verify: "go test ./auth", Budget: &project.Budget{Task: project.Allowance{Tokens: 9}, Spawn: project.Allowance{Tokens: 3}}},
		{ID: "2", Prompt: "Two", DependsOn: []string{"login", "top"}},
		{ID: "top", Prompt: "top"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestTasksSayWhatIsWrong(t *testing.T) {
	entry := func(keys string) string { return "tasks: [{id: a, " + keys + "}]\n" }
	many := "tasks:\n" + strings.Repeat("  - {id: a, prompt: x}\n", 1001)
	for text, says := range map[string]string{
		"":                               "line 1: there are no tasks",
		"tasks: []\n":                    "line 1: there are no tasks",
		"- id: a\n":                      "line 1: the file is a list; it must be a mapping of keys",
		"tasks: {}\n":                    "line 1: tasks is a mapping; it must be a list",
		"tasks: [5]\n":                   "line 1: tasks is 5; it must be a mapping of keys",
		"task: []\n":                     "line 1: unknown key task; did you mean tasks?",
		many:                             "tasks has more than 1000 entries",
		entry("promt: x"):                "line 1: unknown key tasks.promt; did you mean tasks.prompt?",
		entry("max_rounds: 3"):           "unknown key tasks.max_rounds",
		"tasks:\n  - {prompt: x}\n":      "line 2: tasks: the task has no id",
		"tasks: [{id: a b, prompt: x}]":  `line 1: tasks.id: "a b" is not a task id`,
		"tasks: [{id: 1.10, prompt: x}]": "line 1: tasks.id is 1.10; it must be text; quote it if it is meant so",
		"tasks:\n - {id: a, prompt: x}\n - {id: a, prompt: y}\n": `line 3: tasks.id: "a" is already defined in line 2`,
		"tasks: [{id: a}]":                                                         "line 1: tasks: the task has neither prompt nor prompt_file",
		entry("prompt: ' '"):                                                       "tasks.prompt is empty",
		entry("prompt: 5"):                                                         "tasks.prompt is 5; it must be text",
		entry("prompt: " + strings.Repeat("x", 65537)):                             "tasks.prompt has more than 65536 bytes",
		entry("prompt: x, prompt_file: login.md"):                                  "tasks.prompt_file is the second text of the task; give prompt or prompt_file",
		entry("prompt_file: missing.md"):                                           "tasks.prompt_file: missing.md: ",
		entry("prompt_file: latin.md"):                                             "tasks.prompt_file is not UTF-8 at byte 3",
		entry("prompt_file: blank.md"):                                             "tasks.prompt_file is empty",
		entry("prompt_file: big.md"):                                               "tasks.prompt_file: big.md is larger than 65536 bytes",
		entry("prompt_file: ../../secret.md"):                                      `tasks.prompt_file: "../../secret.md" is not in the project`,
		entry("prompt_file: link.md"):                                              "tasks.prompt_file: link.md: ",
		entry("prompt_file: /etc/passwd"):                                          "it must be a path relative to the tasks file",
		entry("prompt_file: ''"):                                                   "it must be a path relative to the tasks file",
		entry("prompt: x, base: ''"):                                               `tasks.base is ""; it must be a revision`,
		entry("prompt: x, verify: ' '"):                                            "tasks.verify is",
		entry("prompt: x, budget: {task: {tokens: -1}}"):                           "tasks.budget.task.tokens is -1",
		entry("prompt: x, budget: {task: {tokens: 1}}"):                            "tasks.budget.spawn.tokens is missing, which tasks.budget.task.tokens needs",
		entry("prompt: x, depends_on: b"):                                          `tasks.depends_on is "b"; it must be a list`,
		entry("prompt: x, depends_on: [b]"):                                        `tasks.depends_on: there is no task "b"`,
		entry("prompt: x, depends_on: [a]"):                                        "tasks.depends_on: the tasks depend on each other in a cycle: a on a",
		"tasks: [{id: login, prompt: x}, {id: b, prompt: x, depends_on: [lgoin]}]": `there is no task "lgoin"; did you mean login?`,
		"tasks: [{id: b, prompt: x}, {id: c, prompt: x, depends_on: [b, b]}]":      `tasks.depends_on has "b" twice`,
		"tasks:\n- {id: a, prompt: x, depends_on: [c]}\n- {id: b, prompt: x, depends_on: [a]}\n- {id: c, prompt: x, depends_on: [b]}": "line 3: tasks.depends_on: the tasks depend on each other in a cycle: a on c on b on a",
		"tasks: [\n": "plan/tasks.yaml: ",
	} {
		_, err := tasksOf(t, text)
		if errs.CodeOf(err) != errs.TasksInvalid || !strings.Contains(err.Error(), says) {
			t.Errorf("%.80q: %v, want %q", text, err, says)
		}
	}
}

// TestTasksSayAllThatIsWrong checks that every problem is reported with its line.
func TestTasksSayAllThatIsWrong(t *testing.T) {
	_, err := tasksOf(t, "tasks:\n - {id: a, prompt: '', depends_on: [zzz]}\n - {id: a, prompt_file: no.md}\n - {id: a, prompt: x}\n")
	e, ok := errors.AsType[*errs.Error](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	problems, _ := e.Details["problems"].([]string)
	text := strings.Join(problems, "\n")
	for _, line := range []string{"line 2: tasks.prompt is empty", `line 2: tasks.depends_on: there is no task "zzz"`, "line 3: tasks.prompt_file: no.md: ", `line 4: tasks.id: "a" is already defined in line 2`} {
		if !strings.Contains(text, line) {
			t.Errorf("%q is missing in\n%s", line, text)
		}
	}
	if len(problems) != 4 {
		t.Errorf("got %d problems:\n%s", len(problems), text)
	}
}

func TestTasksNameTheirFile(t *testing.T) {
	dir := t.TempDir()
	const name = "100%d.yaml"
	if err := os.WriteFile(filepath.Join(dir, name), []byte("tasks: []"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := (project.Project{Root: dir, Dir: dir}).Tasks(t.Context(), name, false); err == nil || err.Error() != name+": line 1: there are no tasks" {
		t.Errorf("got %v", err)
	}
}

// TestTasksThatAreMerged: no task may start from a branch that the merge of another removes.
func TestTasksThatAreMerged(t *testing.T) {
	dir := t.TempDir()
	p := project.Project{Root: dir, Dir: dir}
	for base, refused := range map[string]bool{
		"switchyard/v1..2": false, "switchyard/v1.+2": true, "refs/heads/switchyard/b": true, "switchyard/other": false, "b": false,
	} {
		text := "tasks:\n- {id: v1..2, prompt: x}\n- {id: a, prompt: x, base: " + base + "}\n- {id: b, prompt: x}\n"
		if err := os.WriteFile(filepath.Join(dir, "tasks.yaml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Tasks(t.Context(), "tasks.yaml", false); err != nil {
			t.Errorf("%s, without a merge: %v", base, err)
		}
		_, err := p.Tasks(t.Context(), "tasks.yaml", true)
		says := fmt.Sprintf("tasks.yaml: line 3: tasks.base is %q, the branch of a task of this file, which --merge removes; leave base out", base)
		if refused != (errs.CodeOf(err) == errs.TasksInvalid) || refused && !strings.HasPrefix(err.Error(), says) {
			t.Errorf("%s: %v", base, err)
		}
	}
}

func TestTasksEndWithTheirContext(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := os.WriteFile(filepath.Join(dir, "tasks.yaml"), []byte("tasks: [{id: a, prompt: x}]"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := (project.Project{Root: dir, Dir: dir}).Tasks(ctx, "tasks.yaml", false); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// FuzzTasks checks that any text is a list of tasks within the limits, whose dependencies
// have an order, or a typed error.
func FuzzTasks(f *testing.F) {
	f.Add("tasks:\n- {id: a, prompt: x, base: main, verify: make, budget: {task: {rounds: 3}}}\n- {id: b, prompt_file: tasks.yaml, depends_on: [a]}\n")
	f.Add("tasks: &t [{id: a, prompt: x, depends_on: *t}]\n")
	f.Add("tasks: [&a {id: a, prompt: x, depends_on: &d [b, c]}, *a, {id: b, prompt: y, depends_on: *d}]\n")
	f.Add("tasks:\n- id: \"\\xff\"\n  prompt_file: ../\x00\n")
	dir := f.TempDir()
	p := project.Project{Root: dir, Dir: dir}
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(filepath.Join(dir, "tasks.yaml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		tasks, err := p.Tasks(t.Context(), "tasks.yaml", true)
		if err != nil {
			if code := errs.CodeOf(err); code != errs.TasksInvalid && code != errs.FileTooLarge {
				t.Fatalf("got %v", err)
			}
			return
		}
		if err := holdTasks(tasks); err != nil {
			t.Error(err)
		}
		for _, one := range tasks {
			if one.Budget != nil {
				holdBudget(t, *one.Budget)
			}
		}
	})
}

// holdTasks returns an error unless the tasks can be run in some order.
func holdTasks(tasks []project.Task) error {
	if len(tasks) == 0 || len(tasks) > 1000 {
		return fmt.Errorf("%d tasks", len(tasks))
	}
	ids, done := make(map[string]bool), make(map[string]bool)
	for _, one := range tasks {
		if task.CheckID(one.ID) != nil || ids[one.ID] || one.Prompt == "" || len(one.Prompt) > task.MaxPrompt {
			return fmt.Errorf("got %+v", one)
		}
		ids[one.ID] = true
	}
	for range tasks {
		for _, one := range tasks {
			ready := true
			for _, other := range one.DependsOn {
				ready = ready && done[other]
			}
			done[one.ID] = done[one.ID] || ready
		}
	}
	if len(done) != len(tasks) {
		return fmt.Errorf("dependencies without an order: %+v", tasks)
	}
	for id, ok := range done {
		if !ok {
			return fmt.Errorf("%s never starts", id)
		}
	}
	return nil
}
