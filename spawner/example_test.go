package spawner_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/switchyard-dev/switchyard/spawner"
)

// Run an agent's command line, here a shell script that the adapter exec starts.
func Example() {
	root, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(root)
	state := filepath.Join(root, ".switchyard")
	if err := os.Mkdir(state, 0o700); err != nil {
		log.Fatal(err)
	}
	s, err := spawner.New(spawner.Options{Root: root, State: state, Environ: os.Environ()})
	if err != nil {
		log.Fatal(err)
	}
	out, err := s.Run(context.Background(), spawner.Job{
		Agent:    spawner.Agent{Name: "counter", Body: "You count lines."},
		Adapters: []string{"exec"},
		Command:  []string{"sh", "-c", "grep -c ."},
		Prompt:   func(spawner.Attempt) (string, error) { return "Count these lines.", nil },
		Limits:   spawner.Limits{Timeout: time.Minute, Concurrency: 1},
	})
	if err != nil {
		log.Fatal(err)
	}
	last := out.Last()
	fmt.Println(last.Verdict.Outcome, last.Output.Text)
	// Output: ok 3
}
