package fakeagent

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

func (p *player) take(s Step) error {
	switch {
	case s.Sleep != 0:
		time.Sleep(time.Duration(s.Sleep))
		return nil
	case s.Hang:
		time.Sleep(forever)
		return errors.New("the call was not ended while it hung")
	case s.Await != nil:
		return p.await(s.Await)
	case s.Tick != nil:
		return p.tick(s.Tick)
	case s.Read != nil:
		return p.read()
	case s.Flood != nil:
		return flood(s.Flood)
	case s.Kill != "":
		return kill(s.Kill)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case s.Say != "":
		p.out.say(p.brief.fill(s.Say))
	case s.Tool != nil:
		p.out.use(*s.Tool)
	case s.Final != nil:
		return p.final(s.Final)
	case s.Fail != nil:
		p.code = p.out.fail(*s.Fail)
	case s.Report != nil:
		return p.report(s.Report)
	case s.Print != nil:
		return p.print(s.Print)
	case s.Write != nil:
		return p.write(s.Write, os.O_TRUNC)
	case s.Append != nil:
		return p.write(s.Append, os.O_APPEND)
	case s.Remove != "":
		return remove(p.brief.fill(s.Remove))
	case s.Hook != "":
		return p.hook(s.Hook)
	case s.Run != nil:
		return p.run(s.Run)
	case s.Child != nil:
		return s.Child.start(p.folder)
	}
	return nil
}

func (p *player) await(a *Await) error {
	limit := cmp.Or(time.Duration(a.For), time.Minute)
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		there := a.File == ""
		if a.File != "" {
			_, err := os.Stat(p.brief.fill(a.File))
			there = err == nil
		}
		if there && (a.Calls == 0 || begun(p.calls, a.Calls)) {
			return nil
		}
	}
	return errors.New("the awaited condition did not hold in time")
}

func (p *player) tick(b *Keepalive) error {
	end := time.Now().Add(forever)
	for n := 0; b.Times == 0 || n < b.Times; n++ {
		if time.Now().After(end) {
			return errors.New("the keep-alive events were not stopped")
		}
		p.mu.Lock()
		p.out.keepalive()
		p.mu.Unlock()
		time.Sleep(time.Duration(b.Every))
	}
	return nil
}

func (p *player) read() error {
	prompt, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.brief = ReadBrief(string(prompt)).or(os.Getenv)
	return os.WriteFile(filepath.Join(p.folder, promptFile), prompt, 0o600)
}

func (p *player) report(r *Report) error {
	path := p.brief.fill(cmp.Or(r.Path, p.brief.ReportPath))
	if path == "" {
		return errors.New("the prompt names no report_path")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	var content []byte
	content, p.status, p.blockers = r.compose(p.brief)
	p.reportPath = path
	return r.put(path, content, p.brief)
}

func (p *player) final(f *Final) error {
	path := cmp.Or(p.reportPath, p.brief.ReportPath)
	return p.out.final(f.text(p.brief, envelope(p.brief, path, p.status, p.blockers)), f.Cut)
}

func output(to string) *os.File {
	if to == "stderr" {
		return os.Stderr
	}
	return os.Stdout
}

func (p *player) print(w *Print) error {
	_, err := output(w.To).Write(append([]byte(p.brief.fill(w.Text)), w.Bytes...))
	return err
}

func flood(f *Flood) error {
	piece := bytes.Repeat([]byte("x"), 64<<10)
	if f.Line > 0 {
		for i := f.Line - 1; i < len(piece); i += f.Line {
			piece[i] = '\n'
		}
	}
	for left := f.Bytes; left > 0; left -= int64(len(piece)) {
		piece = piece[:min(left, int64(len(piece)))]
		if _, err := output(f.To).Write(piece); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) write(f *File, flag int) error {
	path := p.brief.fill(f.Path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if f.Executable {
		mode = 0o755
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|flag, mode)
	if err != nil {
		return err
	}
	_, err = file.WriteString(p.brief.fill(f.Text))
	return errors.Join(err, file.Close())
}

// remove removes an existing file or directory.
func remove(path string) error {
	path, err := filepath.Abs(path) // os.RemoveAll refuses ".".
	if err != nil {
		return err
	}
	if _, err := os.Lstat(path); err != nil {
		return err
	}
	return os.RemoveAll(path)
}

// hook writes a git hook, which in a linked working tree is outside of it.
func (p *player) hook(name string) error {
	path, err := exec.Command("git", "rev-parse", "--git-path", "hooks/"+name).Output()
	if err != nil {
		return err
	}
	return p.write(&File{Path: string(bytes.TrimSpace(path)), Text: "#!/bin/sh\nexit 0\n", Executable: true}, os.O_TRUNC)
}

func (p *player) run(r *Run) error {
	argv := make([]string, len(r.Argv))
	for i, arg := range r.Argv {
		argv[i] = p.brief.fill(arg)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = r.Dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", argv[0], err, out)
	}
	return nil
}
