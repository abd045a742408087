package main

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/rogpeppe/go-internal/testscript"
	_ "modernc.org/sqlite" // for the command sqlite

	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// raceAtExit saves every run of the program the second for which a binary with the race
// detector sleeps at exit.
const raceAtExit = "GORACE=atexit_sleep_ms=0"

// scriptCommands returns the additional commands of scripts.
func scriptCommands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	commands := map[string]func(*testscript.TestScript, bool, []string){
		"exits":      exits,
		"gateway":    gatewayCommand,
		"json":       jsonAt,
		"fails":      fails,
		"refuse":     refuse,
		"refuseopen": refuseOpen,
		"repository": commitAll,
		"sqlite":     sqlite,
		"terminal":   terminal,
	}
	maps.Copy(commands, agentCommands())
	return commands
}

// commitAll makes a git repository of the current directory, with all of its files in its
// only commit, on the branch main:
//
//	repository
func commitAll(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: repository")
	}
	for _, command := range []string{"init -q -b main", "config user.name ann", "config user.email ann@example.com", "add -A", "commit -q -m start"} {
		ts.Check(ts.Exec("git", strings.Fields(command)...))
	}
}

// terminal runs a command line of sh that writes to /dev/tty:
//
//	[!] terminal 'switchyard status > /dev/tty'
//
// Testscript closes the terminal when the command ends, and loses what it has not read by
// then. So the command also fills the terminal's buffer, of 640 KiB, with empty lines: they
// have room only once the lines before them were read.
func terminal(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] terminal command")
	}
	err := ts.Exec("sh", "-c", args[0]+"\nstatus=$?\nhead -c 1000000 /dev/zero | tr '\\000' '\\n' > /dev/tty\nexit $status")
	if failed := err != nil; failed != neg {
		ts.Fatalf("the command fails: %t, %v", failed, err)
	}
}

// exits runs a program and fails unless its exit status is N:
//
//	exits N program [args...]
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits N program [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := statusOf(ts, args[1], args[2:]...); got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// statusOf runs a program and returns its exit status.
func statusOf(ts *testscript.TestScript, program string, args ...string) int {
	err := ts.Exec(program, args...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	ts.Check(err)
	return 0
}

// jsonAt fails unless a value, or with ! no value, is at a JSON Pointer into a file,
// stdout or stderr:
//
//	[!] json file pointer [value]
func jsonAt(ts *testscript.TestScript, neg bool, args []string) {
	if neg && len(args) != 2 || !neg && len(args) != 3 {
		ts.Fatalf("usage: [!] json file pointer [value]")
	}
	var document any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &document))
	got, ok := lookUp(document, args[1])
	if neg {
		if ok {
			ts.Fatalf("%s is %v, want nothing", args[1], got)
		}
		return
	}
	if !ok {
		ts.Fatalf("there is no %s", args[1])
	}
	var want any
	ts.Check(json.Unmarshal([]byte(args[2]), &want))
	gotText, err := json.Marshal(got, json.Deterministic(true))
	ts.Check(err)
	wantText, err := json.Marshal(want, json.Deterministic(true))
	ts.Check(err)
	if !bytes.Equal(gotText, wantText) {
		ts.Fatalf("%s is %s, want %s", args[1], gotText, wantText)
	}
}

// lookUp follows a JSON Pointer.
func lookUp(value any, pointer string) (any, bool) {
	for token := range jsontext.Pointer(pointer).Tokens() {
		switch v := value.(type) {
		case map[string]any:
			member, ok := v[token]
			if !ok {
				return nil, false
			}
			value = member
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(v) {
				return nil, false
			}
			value = v[i]
		default:
			return nil, false
		}
	}
	return value, true
}

// refuse runs switchyard with --output json and fails unless the command fails with
// this code: exit status 1, or 2 for usage, nothing on standard output, one whole error
// on standard error, and an unchanged state. The code is in double quotes so that it
// can be searched for.
//
//	refuse "CODE" args...
func refuse(ts *testscript.TestScript, neg bool, args []string) {
	wantError(ts, neg, args)
	if out := ts.ReadFile("stdout"); out != "" {
		ts.Fatalf("standard output is not empty")
	}
}

// refuseOpen is refuse while a file is open, as an editor or a virus scanner may have it:
//
//	refuseopen file "CODE" args...
func refuseOpen(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage: refuseopen file \"CODE\" args...")
	}
	f, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	refuse(ts, neg, args[1:])
}

// fails is refuse for a check that fails, whose result is on standard output:
//
//	fails "CODE" args...
func fails(ts *testscript.TestScript, neg bool, args []string) {
	wantError(ts, neg, args)
	var result map[string]any
	if err := json.Unmarshal([]byte(ts.ReadFile("stdout")), &result); err != nil || len(result) == 0 {
		ts.Fatalf("standard output is not the result of the check: %v", err)
	}
}

// wantError runs switchyard with --output json and fails unless the error is as given
// and the state unchanged.
func wantError(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf(`usage: refuse|fails "CODE" args...`)
	}
	code, wantStatus := strings.Trim(args[0], `"`), cli.ExitFault
	switch {
	case code == string(errs.Usage):
		wantStatus = cli.ExitUsage
	case strings.HasPrefix(code, "proof-"):
		wantStatus = cli.ExitRefused
	}
	before := stateIn(ts)
	status := statusOf(ts, "switchyard", append([]string{"--output", "json"}, args[1:]...)...)
	if after := stateIn(ts); after != before {
		ts.Fatalf("the state has changed from\n%s\nto\n%s", before, after)
	}
	var shown struct {
		Error *struct {
			Code    string         `json:"code"`
			Message string         `json:"message"`
			Hint    string         `json:"hint"`
			Details map[string]any `json:"details"`
		} `json:"error"`
	}
	err := json.Unmarshal([]byte(ts.ReadFile("stderr")), &shown, json.RejectUnknownMembers(true))
	if err != nil || shown.Error == nil {
		ts.Fatalf("standard error is not exactly one error: %v", err)
	}
	e := *shown.Error
	if e.Code != code || status != wantStatus {
		ts.Fatalf("it fails with %s and status %d, want %s and %d", e.Code, status, code, wantStatus)
	}
	if e.Message == "" || e.Hint == "" || e.Details == nil {
		ts.Fatalf("the error is incomplete")
	}
	if strings.HasSuffix(e.Message, ".") || strings.ContainsAny(e.Message, "\n\t") {
		ts.Fatalf("the message is not one sentence without a full stop: %q", e.Message)
	}
}

// stateIn describes everything in the state directory of the project in the work
// directory. A rejected command may restrict the directory's permissions, write its
// .gitignore, fix STATE.md and use the index of the ledger's log, which are not records.
func stateIn(ts *testscript.TestScript) string {
	var b strings.Builder
	root := filepath.Join(ts.Getenv("WORK"), ".switchyard")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "run" {
			return fs.SkipDir // A lease's file is a lock, and stays.
		}
		if path == root || slices.Contains([]string{".gitignore", "STATE.md", "ledger.db-shm"}, d.Name()) {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if d.Name() == "ledger.db-wal" && info.Size() == 0 {
			return nil // A reader that ran out of time left this empty file.
		}
		fmt.Fprintf(&b, "%s %s", filepath.Base(path), info.Mode())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %x", sha256.Sum256(data))
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		ts.Fatalf("read the state: %v", err)
	}
	return b.String()
}

// sqlite runs SQL on a database:
//
//	sqlite file SQL
func sqlite(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sqlite file SQL")
	}
	ts.ReadFile(args[0]) // Opening would create a missing file.
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	_, err = db.Exec(args[1])
	ts.Check(errors.Join(err, db.Close()))
}
