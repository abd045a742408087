package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// gatewayCommand starts a fake Pushgateway that answers with one status after the other
// and then repeats the last one:
//
//	gateway STATUS...
//
// $GATEWAY is its URL and $GATEWAY_ADDRESS its address. It writes a line for each
// request to gateway.log; gateway.yaml is a configuration that pushes to it.
func gatewayCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: gateway STATUS...")
	}
	var statuses []int
	for _, arg := range args {
		status, err := strconv.Atoi(arg)
		ts.Check(err)
		statuses = append(statuses, status)
	}
	path := ts.MkAbs("gateway.log")
	ts.Check(os.WriteFile(path, nil, 0o644))
	var mu sync.Mutex
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, err := io.ReadAll(r.Body)
		user, password, _ := r.BasicAuth()
		line := fmt.Sprintln(r.Method, r.URL.EscapedPath(), len(body) > 0, user+":"+password)
		before, readErr := os.ReadFile(path)
		if err != nil || readErr != nil || os.WriteFile(path, append(before, line...), 0o644) != nil {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		w.WriteHeader(statuses[0])
		fmt.Fprintln(w, "the gateway's reason") // The client may have gone, which does no harm.
		statuses = statuses[min(1, len(statuses)-1):]
	}))
	ts.Defer(s.Close)
	ts.Setenv("GATEWAY", s.URL)
	ts.Setenv("GATEWAY_ADDRESS", strings.TrimPrefix(s.URL, "http://"))
	ts.Check(os.WriteFile(ts.MkAbs("gateway.yaml"), slices.Concat([]byte("metrics:\n  push: "), []byte(s.URL), []byte("\n")), 0o644))
}
