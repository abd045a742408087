package main

import (
	"errors"
	"testing"

	"github.com/switchyard-dev/switchyard/plugins/sdk"
)

func TestNormalize(t *testing.T) {
	answer, err := normalize(sdk.NewReport(`{"tool": "todo-scan", "complete": true, "items": [
		{"path": "./a.go", "line": 7, "tag": "FIXME", "priority": "high", "text": "close the file"}
	]}`, `{}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(answer.Findings) != 1 {
		t.Fatalf("got %+v", answer)
	}
	if f := answer.Findings[0]; *f.File != "a.go" || *f.Line != 7 || f.Severity != sdk.Risk || f.Remediation != "FIXME: close the file" {
		t.Errorf("got %+v", f)
	}
}

func TestNormalizeRefusesHalfAScan(t *testing.T) {
	_, err := normalize(sdk.NewReport(`{"tool": "todo-scan", "complete": false, "items": []}`, `{}`))
	var refusal *sdk.Error
	if !errors.As(err, &refusal) || refusal.Code != "todo-scan-incomplete" {
		t.Errorf("got %v", err)
	}
}
