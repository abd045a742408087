package host_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/host"
)

// report is a critic's report with one finding.
const report = `{"critic": "style", "findings": [
	{"category": "todo-marker", "severity": "risk", "file": "src/api.php", "line": 42, "remediation": "Do it or delete it."}
]}`

// exampleEngine returns an engine on an empty project, and a function that removes
// both.
func exampleEngine() (*host.Engine, func()) {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	project, err := host.FindProject(dir)
	if err != nil {
		log.Fatal(err)
	}
	engine := host.New(host.Options{Project: project, Now: time.Now, By: "example", Environ: os.Environ()})
	return engine, func() {
		if err := engine.Close(context.Background()); err != nil {
			log.Fatal(err)
		}
		if err := os.RemoveAll(dir); err != nil {
			log.Fatal(err)
		}
	}
}

// fromStdin is a request with the report on standard input.
func fromStdin() host.Request {
	return host.Request{Reports: []host.ReportRef{{Plugin: host.Auto, Path: host.Stdin}}, Stdin: strings.NewReader(report)}
}

// Route a report without recording anything.
func ExampleEngine_Route() {
	engine, remove := exampleEngine()
	defer remove()
	decision, err := engine.Route(context.Background(), fromStdin())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(decision.NextAction, decision.Reason, len(decision.Findings))
	// Output: executor routed 1
}

// Run a round of a task on a report, and read the task's status.
func ExampleEngine_Round() {
	engine, remove := exampleEngine()
	defer remove()
	ctx := context.Background()
	if _, err := engine.Round(ctx, "T1", fromStdin()); err != nil {
		log.Fatal(err)
	}
	task, err := engine.Task(ctx, "T1")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(task.Status, task.Round)
	// Output: open 2
}
