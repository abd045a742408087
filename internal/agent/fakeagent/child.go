package fakeagent

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
)

// childFlag runs the program as a process that an agent leaves behind. The child and its
// directory are arguments, because it may have no environment.
const childFlag = "--fake-child"

// start starts the child and returns once it runs.
func (c Child) start(folder string) error {
	cmd, err := c.command(folder)
	if err != nil {
		return err
	}
	if c.Orphan { // The process starts the child and ends, so the child becomes an orphan.
		return cmd.Run()
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	ready := filepath.Join(folder, childPrefix+strconv.Itoa(cmd.Process.Pid))
	for range 1000 {
		if _, err := os.Stat(ready); err == nil {
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return fmt.Errorf("child %d does not report that it runs", cmd.Process.Pid)
}

func (c Child) command(folder string) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	reported, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, childFlag, folder, string(reported))
	if c.Session {
		detach(cmd)
	}
	if c.Hold {
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	}
	if c.Clear {
		cmd.Env = []string{}
	}
	return cmd, nil
}

// beChild is the main function of such a process. It returns the exit code.
func beChild(args []string) int {
	if len(args) != 2 {
		return complain(fmt.Errorf("%s needs a directory and a child", childFlag))
	}
	folder := args[0]
	var c Child
	if err := json.Unmarshal([]byte(args[1]), &c); err != nil {
		return complain(err)
	}
	if c.Orphan {
		c.Orphan = false
		if err := c.start(folder); err != nil {
			return complain(err)
		}
		return 0
	}
	if c.Stubborn {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	}
	if err := os.WriteFile(filepath.Join(folder, childPrefix+strconv.Itoa(os.Getpid())), nil, 0o600); err != nil {
		return complain(err)
	}
	time.Sleep(time.Minute)
	return 0
}
