package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/project"
)

// TestPushTurn: one push of a project at a time, whoever makes it.
func TestPushTurn(t *testing.T) {
	t.Parallel()
	p := project.Project{Root: t.TempDir()}
	turn := pushTurn(p)
	done, err := turn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	done()
	if _, err := os.Stat(p.State()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a push has made the state folder: %v", err)
	}

	if err := os.Mkdir(p.State(), 0o700); err != nil {
		t.Fatal(err)
	}
	done, err = turn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := pushTurn(p)(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second push has its turn beside the first: %v", err)
	}
	next := make(chan error, 1)
	go func() {
		done, err := turn(t.Context())
		if err == nil {
			done()
		}
		next <- err
	}()
	done()
	if err := <-next; err != nil {
		t.Errorf("the turn is not handed on: %v", err)
	}
}
