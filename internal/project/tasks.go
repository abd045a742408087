package project

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/gitrepo"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// The limits of a tasks file, in tasks and in bytes.
const (
	maxTasks     = 1000
	maxTasksFile = 4 << 20
)

// Task is an entry of a tasks file.
type Task struct {
	ID string
	// Prompt describes the task. It is from the entry, or the content of its file.
	Prompt string
	// Base is the revision that the task starts from, "" if not set.
	Base string
	// DependsOn lists other tasks of the file.
	DependsOn []string
	// Verify is the command that replaces the project's verification, or "".
	Verify string
	// Budget replaces the project's budget, unless it is nil.
	Budget *Budget
}

// Tasks reads a file that lists tasks, and the files with their texts, which are relative
// to it and inside the project. The dependencies of the tasks are free of cycles. If the
// tasks are to be merged, none starts from the branch of another: the merge removes it.
//
// # Errors
//
// tasks-invalid: the detail "problems" has every problem with its line. Also the codes of
// Read.
func (p Project) Tasks(ctx context.Context, path string, merge bool) ([]Task, error) {
	data, err := p.Read(ctx, path, maxTasksFile)
	if err != nil {
		return nil, err
	}
	dir := Project{Root: p.Root, Dir: filepath.Dir(p.Abs(path))}
	r := &tasksReader{reader: reader{file: path, code: errs.TasksInvalid}, at: make(map[string]value)}
	r.content = func(v value) (string, error) {
		if _, inside := dir.Rel(v.node.Value); !inside {
			return "", fmt.Errorf("%s is not in the project", v)
		}
		text, err := dir.Read(ctx, v.node.Value, task.MaxPrompt)
		return string(text), err
	}
	err = r.read(data, func(root value) {
		root.mapping(fields{"tasks": func(v value) { v.list(maxTasks, r.readTask) }})
	})
	if err := cmp.Or(err, context.Cause(ctx)); err != nil {
		return nil, err
	}
	if len(r.tasks) == 0 && r.problemCount() == 0 {
		r.addProblem(1, "there are no tasks")
	}
	r.checkDependencies()
	if merge {
		r.checkBases()
	}
	return r.tasks, r.err()
}

type tasksReader struct {
	reader
	// content returns the content of a prompt_file.
	content func(v value) (string, error)
	tasks   []Task
	// at maps the ids of tasks to their entries, and needs has each task's dependencies.
	at    map[string]value
	needs [][]value
	// bases has the bases of tasks.
	bases []value
}

func (r *tasksReader) readTask(v value) {
	var t Task
	var needs []value
	var id value
	texts := 0
	prompt := func(v value, text string) {
		if texts++; texts > 1 {
			v.fail(" is the second text of the task; give prompt or prompt_file")
			return
		}
		var err error
		if t.Prompt, err = task.CleanPrompt(v.path, text); err != nil && v.isText() {
			v.addProblem(v.line, "%v", err)
		}
	}
	ok := v.mapping(fields{
		"id":     func(v value) { t.ID, id = v.text(), v },
		"prompt": func(v value) { prompt(v, v.text()) },
		"prompt_file": func(v value) {
			path := v.text()
			switch {
			case !v.isText():
			case path == "" || filepath.IsAbs(path):
				v.expected("a path relative to the tasks file")
			default:
				text, err := r.content(v)
				if err != nil {
					v.fail(": %v", err)
					return
				}
				prompt(v, text)
			}
		},
		"base": func(v value) {
			t.Base = v.textOf("a revision")
			r.bases = append(r.bases, v)
		},
		"depends_on": func(v value) {
			seen := make(map[string]bool)
			v.list(maxTasks, func(v value) {
				name := v.text()
				if seen[name] {
					v.fail(" has %s twice", v)
					return
				}
				seen[name] = true
				t.DependsOn, needs = append(t.DependsOn, name), append(needs, v)
			})
		},
		"verify": func(v value) { t.Verify = readCommand(v) },
		"budget": func(v value) { t.Budget = &Budget{}; t.Budget.read(v) },
	})
	if ok {
		r.checkTask(v, id, t, texts)
	}
	r.tasks, r.needs = append(r.tasks, t), append(r.needs, needs)
	if _, twice := r.at[t.ID]; !twice {
		r.at[t.ID] = v
	}
}

// checkTask reports an invalid id and a missing text.
func (r *tasksReader) checkTask(v, id value, t Task, texts int) {
	first, twice := r.at[t.ID]
	switch err := task.CheckID(t.ID); {
	case id.node == nil:
		v.fail(": the task has no id")
	case err != nil:
		id.fail(": %v", err)
	case twice:
		id.fail(": %s is already defined in line %d", id, first.line)
	}
	if texts == 0 {
		v.fail(": the task has neither prompt nor prompt_file")
	}
}

// checkBases reports bases that are the branch of a task of the file.
func (r *tasksReader) checkBases() {
	branches := make(map[string]bool)
	for _, t := range r.tasks {
		branches[gitrepo.TaskBranch(t.ID)] = true
	}
	for _, v := range r.bases {
		if branches[strings.TrimPrefix(v.node.Value, "refs/heads/")] {
			v.fail(" is %s, the branch of a task of this file, which --merge removes; leave base out: with depends_on, the task starts after the other is merged", v)
		}
	}
}

// checkDependencies reports dependencies that do not exist, and cycles. It stops once
// there are too many problems to show.
func (r *tasksReader) checkDependencies() {
	index := make(map[string]int)
	ids := make([]string, len(r.tasks))
	for i, t := range r.tasks {
		index[t.ID], ids[i] = i, t.ID
	}
	seen, open := make([]bool, len(r.tasks)), make([]bool, len(r.tasks))
	var path []string // the tasks on the way to the visited one, which are open
	var visit func(i int)
	visit = func(i int) {
		seen[i], open[i], path = true, true, append(path, textutil.Clip(ids[i], maxShown))
		for _, v := range r.needs[i] {
			name := v.node.Value
			switch next, ok := index[name]; {
			case r.problemCount() >= maxProblems:
			case !ok:
				v.fail(": there is no task %s%s", v, textutil.DidYouMean(name, ids))
			case open[next]:
				cycle := path[slices.Index(path, textutil.Clip(name, maxShown)):]
				v.fail(": the tasks depend on each other in a cycle: %s", strings.Join(append(slices.Clone(cycle), cycle[0]), " on "))
			case !seen[next]:
				visit(next)
			}
		}
		open[i], path = false, path[:len(path)-1]
	}
	for i := range r.tasks {
		if !seen[i] {
			visit(i)
		}
	}
}
