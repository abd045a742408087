package worktree

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
)

// gitlink is the mode of an entry for a submodule.
const gitlink = "160000"

// indexEntry is a line of git ls-files.
type indexEntry struct {
	path string
	// tag is a letter, see git-ls-files(1), -t and -v.
	tag byte
	// mode, oid and stage are "" for an untracked path.
	mode, oid, stage string
}

func (e indexEntry) untracked() bool { return e.tag == '?' }

// parseEntry parses a record of git ls-files -z -v --stage.
func parseEntry(text string) (indexEntry, error) {
	malformed := fmt.Errorf("git ls-files: %.200q is not an entry", text)
	if len(text) < 3 || text[1] != ' ' {
		return indexEntry{}, malformed
	}
	e := indexEntry{tag: text[0], path: text[2:]}
	if !e.untracked() {
		var meta string
		var ok bool
		meta, e.path, ok = strings.Cut(text[2:], "\t")
		words := strings.Split(meta, " ")
		if !ok || len(words) != 3 {
			return indexEntry{}, malformed
		}
		e.mode, e.oid, e.stage = words[0], words[1], words[2]
	}
	// A path that is not clean and local would lead elsewhere.
	if clean := strings.TrimSuffix(e.path, "/"); clean == "." || !filepath.IsLocal(clean) || path.Clean(clean) != clean {
		return indexEntry{}, malformed
	}
	return e, nil
}

// repository scans a repository whose working tree is at dir, and those below it.
func (l *scanner) repository(ctx context.Context, dir string, r repo) error {
	if l.depth++; l.depth > maxNested {
		return unreadable(dir, fmt.Errorf("repositories lie more than %d deep in each other", maxNested))
	}
	defer func() { l.depth-- }()
	l.repos[dir] = true
	if l.depth == 1 {
		l.common = r.common
	} else if r.common == l.common && r.linked() {
		// The contents of another working tree of the same repository do not count.
		l.items[gitKey{path: path.Join(dir, gitFolder)}] = gitValue{text: "another working tree"}
		return nil
	}
	var settings []setting
	var unsettled error
	var asking sync.WaitGroup
	if l.git.bin != "" {
		asking.Go(func() { settings, unsettled = l.git.settings(ctx, r) })
	}
	err := l.state(ctx, dir, r, l.git.bin == "")
	asking.Wait()
	if err := cmp.Or(err, unsettled); err != nil {
		return err
	}
	if l.git.bin == "" {
		return l.walk(ctx, dir, true)
	}
	if err := l.rules(dir, r, settings); err != nil {
		return err
	}
	m, err := l.git.shadow(r, settings)
	if err != nil {
		return err
	}
	return l.list(ctx, dir, m)
}

// rules adds the settings that count, and the user's file of ignore rules.
func (l *scanner) rules(dir string, r repo, settings []setting) error {
	head, err := r.head()
	if err != nil {
		return unreadable(path.Join(dir, gitFolder), err)
	}
	excludes := l.git.userFile("ignore")
	for _, s := range settings {
		if !s.counts(head) {
			continue
		}
		it := gitKey{path.Join(dir, gitFolder, "config"), s.name}
		l.items[it] = gitValue{text: l.items[it].text + s.value + "\x00"} // A setting may have several values.
		if s.name == "core.excludesfile" {
			excludes = l.git.expand(s.value)
		}
	}
	if !filepath.IsAbs(excludes) {
		return nil
	}
	folder, err := os.OpenRoot(filepath.Dir(excludes))
	if err != nil {
		return nil // Git cannot read it either.
	}
	defer folder.Close()
	sum, err := digest(folder, filepath.Base(excludes))
	if err != nil {
		sum = ""
	}
	l.items[gitKey{path.Join(dir, gitFolder, "config"), "what core.excludesfile ignores"}] = gitValue{text: sum}
	return nil
}

// list asks git for the files of a repository.
func (l *scanner) list(ctx context.Context, dir string, m *shadowRepo) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var special []string
	var walking sync.WaitGroup
	walking.Go(func() {
		var err error
		if special, err = l.special(ctx, dir); err != nil {
			cancel(err)
		}
	})
	in := filepath.Join(l.real, filepath.FromSlash(dir))
	// This pattern comes first: .gitignore files count even if they ignore themselves,
	// unless git does not enter their directory.
	out, err := l.git.runOK(ctx, m.command(in, "ls-files", "-z", "-v", "--stage", "--cached", "--others", "--exclude=!"+ignoreFile, "--exclude-standard"))
	walking.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	if err := l.addSpecial(ctx, dir, m, special); err != nil {
		return err
	}
	index := path.Join(dir, gitFolder, "index")
	var nested []string
	err = records(out, func(text string) error {
		e, err := parseEntry(text)
		if err != nil {
			return unreadable(dir, err)
		}
		name := path.Join(dir, e.path)
		if !e.untracked() {
			of := e.path
			if e.stage != "0" {
				of += " in stage " + e.stage
			}
			l.index = append(l.index, gitEntry{gitKey{index, of}, gitValue{text: e.mode + " " + e.oid, tag: e.tag}})
		}
		if e.mode == gitlink || strings.HasSuffix(e.path, "/") {
			nested = append(nested, name)
			return nil
		}
		return l.add(name, nil)
	})
	for _, name := range nested {
		if err == nil && l.enters(name) {
			err = l.walk(ctx, name, false)
		}
	}
	return err
}
