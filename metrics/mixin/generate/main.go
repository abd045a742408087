// Command generate writes the files of package mixin: go run ./metrics/mixin/generate,
// from the module's folder. With --check it writes nothing and fails where a file is
// not what it would write.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/metrics"
	"github.com/switchyard-dev/switchyard/metrics/mixin"
)

func main() {
	folder := flag.String("dir", filepath.Join("metrics", "mixin"), "the `folder` of the files")
	check := flag.Bool("check", false, "only compare")
	flag.Parse()
	if err := run(*folder, *check); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(folder string, check bool) error {
	files, err := mixin.Files(metrics.Families(), mixin.Default())
	if err != nil {
		return err
	}
	var stale []error
	for _, f := range files {
		path := filepath.Join(folder, f.Name)
		if !check {
			if err := os.WriteFile(path, f.Contents, 0o644); err != nil {
				return err
			}
			continue
		}
		if got, err := os.ReadFile(path); err != nil {
			stale = append(stale, err)
		} else if !bytes.Equal(got, f.Contents) {
			stale = append(stale, fmt.Errorf("%s is not what the metrics and rules in Go come to: run make mixin, and look at what changes", path))
		}
	}
	return errors.Join(stale...)
}
