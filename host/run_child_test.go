package host_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/plugins"
)

// child is a process that drives task T, to be killed.
type child struct {
	Root, Cache string
	Environ     []string
	Base, Push  string
	Merge       bool
	// KillAt kills it when it reads its clock for that time, 0 for never.
	KillAt int64
}

// childVariable has a child in JSON.
const childVariable = "SWITCHYARD_TEST_CHILD"

// playChild drives a task and ends the process, if this process is a child.
func playChild() {
	text := os.Getenv(childVariable)
	if text == "" {
		return
	}
	var c child
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var reads atomic.Int64
	e := host.New(host.Options{
		Project: project.Project{Root: c.Root, Dir: c.Root}, Plugins: plugins.Config{CacheDir: c.Cache}, By: "tester", Environ: c.Environ,
		Now: func() time.Time {
			if reads.Add(1) == c.KillAt {
				self, _ := os.FindProcess(os.Getpid())
				_ = self.Kill()
				select {}
			}
			return time.Now()
		},
	})
	ctx := context.Background()
	r, err := e.Run(ctx, "T", api.RunRequest{Prompt: runPrompt, Base: c.Base, Merge: c.Merge, Push: c.Push})
	_ = e.Close(ctx)
	if err != nil || r.NextAction != "commit" {
		fmt.Fprintln(os.Stderr, r.NextAction, r.Reason, errs.CodeOf(err), err)
		os.Exit(1)
	}
	fmt.Println(reads.Load())
	os.Exit(0)
}

// child returns the command of a process that drives task T.
func (s *runSite) child(t testing.TB, c child) *exec.Cmd {
	t.Helper()
	c.Root, c.Cache, c.Environ = s.root, s.cache, s.environ()
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+string(text))
	return cmd
}
