package fakeagent

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
)

// Call describes one call of the fake agent.
type Call struct {
	// Number counts the calls from 1, in the order of their starts.
	Number int `json:"number"`
	// Argv begins with the program.
	Argv []string `json:"argv"`
	Dir  string   `json:"dir"`
	Env  []string `json:"env"`
	PID  int      `json:"pid"`
	// Stdin is the prompt, nil if it was not read.
	Stdin []byte `json:"-"`
	// Children are the ids of the processes that it left behind, and Signals the signals that
	// it survived.
	Children []int    `json:"-"`
	Signals  []string `json:"-"`
}

// Variable returns the value of a variable in the call's environment.
func (c Call) Variable(name string) (string, bool) {
	for _, entry := range slices.Backward(c.Env) {
		if n, value, _ := strings.Cut(entry, "="); n == name {
			return value, true
		}
	}
	return "", false
}

// The files in a call's directory. A child's file is named after its number.
const (
	seenFile    = "seen.json"
	promptFile  = "stdin"
	signalsFile = "signals"
	childPrefix = "child-"
)

// claim takes the first free number for a call and creates its directory.
func claim(calls string) (number int, folder string, err error) {
	if err := os.MkdirAll(calls, 0o700); err != nil {
		return 0, "", err
	}
	for number = 1; ; number++ {
		folder = filepath.Join(calls, strconv.Itoa(number))
		if err := os.Mkdir(folder, 0o700); !errors.Is(err, fs.ErrExist) {
			return number, folder, err
		}
	}
}

// begun reports whether n calls have begun.
func begun(calls string, n int) bool {
	_, err := os.Stat(filepath.Join(calls, strconv.Itoa(n)))
	return err == nil
}

func (c Call) record(folder string) error {
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	path := filepath.Join(folder, seenFile)
	if err := os.WriteFile(path+"~", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+"~", path)
}

// ReadCalls reads the directory of a script's calls. A missing directory has no calls. A call
// that has just begun may be missing.
func ReadCalls(folder string) ([]Call, error) {
	var calls []Call
	for n := 1; begun(folder, n); n++ {
		c, err := readCall(filepath.Join(folder, strconv.Itoa(n)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		calls = append(calls, c)
	}
	return calls, nil
}

func readCall(folder string) (Call, error) {
	var c Call
	data, err := os.ReadFile(filepath.Join(folder, seenFile))
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(data, &c, json.RejectUnknownMembers(true)); err != nil {
		return c, err
	}
	if c.Stdin, err = os.ReadFile(filepath.Join(folder, promptFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c, err
	}
	signals, err := os.ReadFile(filepath.Join(folder, signalsFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c, err
	}
	c.Signals = strings.Fields(string(signals))
	entries, err := os.ReadDir(folder)
	if err != nil {
		return c, err
	}
	for _, entry := range entries {
		if number, ok := strings.CutPrefix(entry.Name(), childPrefix); ok {
			pid, err := strconv.Atoi(number)
			if err != nil {
				return c, err
			}
			c.Children = append(c.Children, pid)
		}
	}
	return c, nil
}
