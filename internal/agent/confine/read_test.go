package confine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

func TestRead(t *testing.T) {
	w := newWorld(t)
	link(t, "sub", filepath.Join(w.project, "inner"))
	link(t, filepath.Join(w.project, "sub", "f"), filepath.Join(w.project, "absolute"))
	link(t, w.temp, filepath.Join(w.project, "to-temp"))
	link(t, w.outside, filepath.Join(w.project, "out"))
	link(t, filepath.Join(w.outside, "f"), filepath.Join(w.project, "out-file"))
	link(t, filepath.Join("..", "elsewhere", "f"), filepath.Join(w.temp, "out-relative"))
	link(t, "loop", filepath.Join(w.project, "loop"))
	link(t, "none", filepath.Join(w.project, "dangling"))
	link(t, w.project, filepath.Join(w.outside, "alias"))
	b := w.open(t)
	for path, want := range map[string]string{
		"f":                                 "project",
		"./sub/../f":                        "project",
		"sub/f":                             "sub",
		"inner/f":                           "sub",
		"absolute":                          "sub",
		"../temp/f":                         "temp",
		"to-temp/f":                         "temp", // It leads out of one base and into the other.
		filepath.Join(w.project, "f"):       "project",
		filepath.Join(w.temp, "f"):          "temp",
		filepath.Join(w.outside, "alias/f"): "project", // Another name of the project.
	} {
		if got, err := b.Read(t.Context(), path, 100); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	for path, want := range map[string]errs.Code{
		"out/f":                       errs.SpawnPathOutside,
		"out-file":                    errs.SpawnPathOutside,
		"../temp/out-relative":        errs.SpawnPathOutside,
		"../elsewhere/f":              errs.SpawnPathOutside,
		"../elsewhere/none":           errs.SpawnPathOutside,
		filepath.Join(w.outside, "f"): errs.SpawnPathOutside,
		w.project + "-more":           errs.SpawnPathOutside, // Only the begin of the name is the same.
		"/":                           errs.SpawnPathOutside,
		"none":                        errs.SpawnPromptUnreadable,
		"none/none":                   errs.SpawnPromptUnreadable,
		"loop":                        errs.SpawnPromptUnreadable,
		"dangling":                    errs.SpawnPromptUnreadable,
		"sub":                         errs.SpawnPromptUnreadable,
		"":                            errs.SpawnPromptUnreadable,
		"f\x00":                       errs.SpawnPromptUnreadable,
		"f/x":                         errs.SpawnPromptUnreadable,
		strings.Repeat("x", 5000):     errs.SpawnPromptUnreadable,
	} {
		got, err := b.Read(t.Context(), path, 100)
		if errs.CodeOf(err) != want || got != nil {
			t.Errorf("%.40q: %q, %v", path, got, err)
		}
		if path != "/" {
			holdDetails(t, err)
		}
	}
}

// TestReadHoldsItsLimit: a file of just the limit is read, and one byte more is not.
func TestReadHoldsItsLimit(t *testing.T) {
	w := newWorld(t)
	b := w.open(t)
	put(t, filepath.Join(w.project, "five"), "12345")
	if got, err := b.Read(t.Context(), "five", 5); err != nil || string(got) != "12345" {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := b.Read(t.Context(), "five", 4); errs.CodeOf(err) != errs.SpawnPromptUnreadable || got != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestReadOfACancelledCommand(t *testing.T) {
	w := newWorld(t)
	b := w.open(t)
	cause := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	// The file may have been faster, and then it is read.
	if _, err := b.Read(ctx, "f", 100); err != nil && !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
}

// TestNoPathLeadsOut builds paths of links, dots and names, and reads no file from
// elsewhere whatever they come to.
func TestNoPathLeadsOut(t *testing.T) {
	w := newWorld(t)
	link(t, "..", filepath.Join(w.project, "up"))
	link(t, "../../elsewhere", filepath.Join(w.project, "sub", "out"))
	link(t, w.outside, filepath.Join(w.temp, "out"))
	link(t, w.project, filepath.Join(w.outside, "back"))
	b := w.open(t)
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"..", ".", "f", "sub", "up", "out", "back", "project", "temp", "elsewhere", ""})
		path := strings.Join(rapid.SliceOfN(part, 1, 8).Draw(t, "path"), "/")
		if rapid.Bool().Draw(t, "absolute") {
			path = filepath.Dir(w.project) + "/" + path
		}
		got, err := b.Read(t.Context(), path, 100)
		if code := errs.CodeOf(err); err != nil && code != errs.SpawnPathOutside && code != errs.SpawnPromptUnreadable {
			t.Fatalf("%s: %v", path, err)
		}
		if s := string(got); err == nil && s != "project" && s != "temp" && s != "sub" {
			t.Fatalf("%s holds %q", path, s)
		}
	})
}

// TestNoGapBetweenCheckAndUse lets a directory become a link to elsewhere and back
// while files are read through it.
func TestNoGapBetweenCheckAndUse(t *testing.T) {
	w := newWorld(t)
	b := w.open(t)
	sub, stored, out := filepath.Join(w.project, "sub"), filepath.Join(w.project, "kept"), filepath.Join(w.project, "out")
	link(t, w.outside, out)
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(sub, stored)
			_ = os.Rename(out, sub)
			_ = os.Rename(sub, out)
			_ = os.Rename(stored, sub)
		}
	}()
	for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); {
		if got, err := b.Read(t.Context(), "sub/f", 100); err == nil && string(got) != "sub" {
			t.Errorf("read %q", got)
			break
		}
	}
	close(stop)
	<-done
}
