// Package scripts tests the installers of releases.
package scripts

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const version = "v1.2.0"

// archiveOf is the name of a release's archive for Linux on this processor.
var archiveOf = "switchyard_1.2.0_linux_" + runtime.GOARCH + ".tar.gz"

// release is the content of a server: the latest release, and each release by its version.
type release struct {
	key   string // the public key
	files map[string][]byte
}

// makeRelease signs a release whose programs only print their version.
func makeRelease(t *testing.T) *release {
	t.Helper()
	r := &release{files: map[string][]byte{}}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	archive := tar.NewWriter(z)
	for _, name := range []string{"switchyard", "switchyard-mcp"} {
		script := "#!/bin/sh\necho switchyard " + version + "\n"
		if err := archive.WriteHeader(&tar.Header{Name: strings.TrimSuffix(archiveOf, ".tar.gz") + "/" + name, Mode: 0o755, Size: int64(len(script))}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(script)); err != nil {
			t.Fatal(err)
		}
	}
	if archive.Close() != nil || z.Close() != nil {
		t.Fatal("the archive cannot be written")
	}
	r.files[archiveOf] = packed.Bytes()
	r.files["SHA256SUMS"] = fmt.Appendf(nil, "%x  %s\n%x  switchyard_1.2.0_plan9_amd64.tar.gz\n", sha256.Sum256(packed.Bytes()), archiveOf, sha256.Sum256(nil))
	r.sign(t)
	return r
}

// sign signs the sums with a new key.
func (r *release) sign(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	key, sums := filepath.Join(dir, "key"), filepath.Join(dir, "SHA256SUMS")
	if err := os.WriteFile(sums, r.files["SHA256SUMS"], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key}, {"-q", "-Y", "sign", "-n", "switchyard-release", "-f", key, sums}} {
		if out, err := exec.Command("ssh-keygen", args...).CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %v\n%s", err, out)
		}
	}
	for path, to := range map[string]func([]byte){
		sums + ".sig": func(b []byte) { r.files["SHA256SUMS.sig"] = b },
		key + ".pub":  func(b []byte) { r.key = strings.TrimSpace(string(b)) },
	} {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		to(content)
	}
}

// ServeHTTP serves the release as the release page does.
func (r *release) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	name, ok := strings.CutPrefix(req.URL.Path, "/download/"+version+"/")
	if !ok {
		name, ok = strings.CutPrefix(req.URL.Path, "/latest/download/")
	}
	content, known := r.files[name]
	if !ok || !known {
		http.NotFound(w, req)
		return
	}
	if cut, ok := bytes.CutSuffix(content, []byte(truncated)); ok {
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		content = cut
	}
	_, _ = w.Write(content)
}

// truncated ends a file of which the server does not send the end.
const truncated = "(the rest is not sent)"

// installation is one run of install.sh.
type installation struct {
	shell []string
	home  string
	path  string // a directory with the only programs that it finds
	args  []string
}

// programs are the programs that install.sh may use.
var programs = []string{"awk", "cat", "curl", "git", "gzip", "mkdir", "mktemp", "mv", "rm", "sh", "sha256sum", "ssh-keygen", "tar", "tr", "uname"}

func prepare(t *testing.T, shell ...string) installation {
	t.Helper()
	in := installation{shell: shell, home: t.TempDir(), path: t.TempDir()}
	for _, name := range programs {
		in.provide(t, name)
	}
	return in
}

// provide makes a program of this machine available.
func (in installation) provide(t *testing.T, name string) {
	t.Helper()
	at, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed here", name)
	}
	if err := os.Symlink(at, filepath.Join(in.path, name)); err != nil {
		t.Fatal(err)
	}
}

// without removes programs.
func (in installation) without(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := os.Remove(filepath.Join(in.path, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// script puts a program of its own in place of another.
func (in installation) script(t *testing.T, name, text string) {
	t.Helper()
	_ = os.Remove(filepath.Join(in.path, name))
	writeScript(t, filepath.Join(in.path, name), text)
}

func writeScript(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// bin is where it installs by default.
func (in installation) bin() string { return filepath.Join(in.home, ".local", "bin") }

// run runs install.sh with a key, and returns its output and whether it succeeds.
func (in installation) run(t *testing.T, key string) (string, bool) {
	t.Helper()
	text, err := os.ReadFile("install.sh")
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "install.sh")
	keyed := strings.Replace(string(text), "\nkey=none\n", "\nkey='"+key+"'\n", 1)
	if err := os.WriteFile(script, []byte(keyed), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(in.shell[0], slices.Concat(in.shell[1:], []string{script}, in.args)...)
	cmd.Env = []string{"PATH=" + in.path, "HOME=" + in.home}
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

// contents returns the names in a directory, or nil if it does not exist.
func contents(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// eachShell runs a test with each shell that is here.
func eachShell(t *testing.T, test func(t *testing.T, shell ...string)) {
	if runtime.GOOS != "linux" {
		t.Skip("the archive of this test is for Linux")
	}
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is not installed here")
	}
	for _, shell := range [][]string{{"sh"}, {"dash"}, {"bash", "--posix"}, {"busybox", "ash"}} {
		t.Run(shell[0], func(t *testing.T) {
			at, err := exec.LookPath(shell[0])
			if err != nil {
				t.Skipf("%s is not installed here", shell[0])
			}
			test(t, append([]string{at}, shell[1:]...)...)
		})
	}
}

func TestInstall(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell ...string) {
		r := makeRelease(t)
		server := httptest.NewServer(r)
		defer server.Close()
		in := prepare(t, shell...)
		in.args = []string{"--url", server.URL}
		expect := func(want string) {
			t.Helper()
			out, ok := in.run(t, r.key)
			if !ok || !strings.Contains(out, want) {
				t.Errorf("it ends with %v and prints\n%swant %q", ok, out, want)
			}
			if got := contents(t, in.bin()); !slices.Equal(got, []string{"switchyard", "switchyard-mcp"}) {
				t.Errorf("installed are %q", got)
			}
		}
		expect("installed switchyard v1.2.0 in " + in.bin() + "\n")
		expect("installed switchyard v1.2.0 in " + in.bin() + " again\n")
		expect("  export PATH=\"" + in.bin() + ":$PATH\"\n")
		for _, old := range []string{"v0.9.0", "v2.0.0"} {
			writeScript(t, filepath.Join(in.bin(), "switchyard"), "echo switchyard "+old)
			expect("replaced switchyard " + old + " by v1.2.0 in " + in.bin() + "\n")
		}
		writeScript(t, filepath.Join(in.bin(), "switchyard"), "exit 1")
		expect("replaced switchyard of an unknown version by v1.2.0 in ")

		in.args = append(in.args, "--version", "1.2.0")
		expect("installed switchyard v1.2.0 in")
		in.without(t, "curl")
		in.provide(t, "wget")
		expect("installed switchyard v1.2.0 in")
		in.without(t, "git")
		expect("It needs git")

		other := filepath.Join(in.home, "my programs")
		in.path += ":" + other
		in.args = append(in.args, "--dir", other+"/")
		if out, ok := in.run(t, r.key); !ok || !strings.Contains(out, "in "+other+"\n") || strings.Contains(out, "PATH") || len(contents(t, other)) != 2 {
			t.Errorf("it prints\n%s", out)
		}
	})
}

// TestInstallRefuses checks that each failure has a message and leaves an older version
// unchanged.
func TestInstallRefuses(t *testing.T) {
	t.Parallel()
	closed := httptest.NewServer(nil)
	closed.Close()
	for name, c := range map[string]struct {
		change func(t *testing.T, r *release, in *installation)
		want   string
	}{
		"tampered archive": {func(_ *testing.T, r *release, _ *installation) { r.files[archiveOf] = append(r.files[archiveOf], 0) }, "another checksum"},
		"tampered sums": {func(_ *testing.T, r *release, _ *installation) {
			r.files[archiveOf] = append(r.files[archiveOf], 0)
			r.files["SHA256SUMS"] = fmt.Appendf(nil, "%x  %s\n", sha256.Sum256(r.files[archiveOf]), archiveOf)
		}, "signature of SHA256SUMS is not valid"},
		"wrong key": {func(t *testing.T, r *release, _ *installation) {
			key := r.key
			r.sign(t)
			r.key = key
		}, "signature of SHA256SUMS is not valid"},
		"no signature":      {func(_ *testing.T, r *release, _ *installation) { r.files["SHA256SUMS.sig"] = nil }, "signature of SHA256SUMS is not valid"},
		"no key":            {func(_ *testing.T, r *release, _ *installation) { r.key = "none" }, "no key to verify"},
		"missing archive":   {func(_ *testing.T, r *release, _ *installation) { delete(r.files, archiveOf) }, "refuses http"},
		"missing signature": {func(_ *testing.T, r *release, _ *installation) { delete(r.files, "SHA256SUMS.sig") }, "is there such a release?"},
		"missing by wget": {func(t *testing.T, r *release, in *installation) {
			delete(r.files, archiveOf)
			in.without(t, "curl")
			in.provide(t, "wget")
		}, "is there such a release?"},
		"unknown version": {func(_ *testing.T, _ *release, in *installation) { in.args = append(in.args, "--version", "v9.9.9") }, "is there such a release?"},
		"no network":      {func(_ *testing.T, _ *release, in *installation) { in.args = []string{"--url", closed.URL} }, "cannot download"},
		"truncated download": {func(_ *testing.T, r *release, _ *installation) {
			r.files[archiveOf] = append(r.files[archiveOf], truncated...)
		}, "cannot download"},
		"truncated by wget": {func(t *testing.T, r *release, in *installation) {
			r.files[archiveOf] = append(r.files[archiveOf], truncated...)
			in.without(t, "curl")
			in.provide(t, "wget")
		}, "cannot download"},
		"a file for a directory": {func(t *testing.T, _ *release, in *installation) {
			in.args = append(in.args, "--dir", filepath.Join(in.bin(), "switchyard", "bin"))
		}, "cannot write to"},
		"a directory in its place": {func(t *testing.T, _ *release, in *installation) {
			in.args = append(in.args, "--dir", folderInPlace(t, "switchyard"))
		}, "is a directory"},
		"a directory in the place of the other": {func(t *testing.T, _ *release, in *installation) {
			in.args = append(in.args, "--dir", folderInPlace(t, "switchyard-mcp"))
		}, "switchyard-mcp is a directory"},
		"a program that cannot be replaced": {func(t *testing.T, _ *release, in *installation) {
			mv, err := exec.LookPath("mv")
			if err != nil {
				t.Fatal(err)
			}
			in.script(t, "mv", "case $2 in *-mcp) exit 1 ;; esac; exec "+mv+" \"$@\"")
		}, "cannot write to"},
		"read-only home": {func(t *testing.T, _ *release, in *installation) {
			// Root writes everywhere, so mkdir and mktemp say no in place of the kernel.
			in.script(t, "mktemp", "exit 1")
		}, "cannot write to"},
		"no home":         {func(_ *testing.T, _ *release, in *installation) { in.home = "" }, "--dir"},
		"unknown system":  {func(t *testing.T, _ *release, in *installation) { in.uname(t, "Plan9", "x86_64", "1.0") }, "no releases for Plan9"},
		"unknown machine": {func(t *testing.T, _ *release, in *installation) { in.uname(t, "Linux", "riscv64", "6.1.0") }, "no releases for Linux on riscv64"},
		"Windows":         {func(t *testing.T, _ *release, in *installation) { in.uname(t, "MINGW64_NT-10.0", "x86_64", "3.4") }, "install.ps1"},
		"old Linux":       {func(t *testing.T, _ *release, in *installation) { in.uname(t, "Linux", "x86_64", "2.6.32-754.el6") }, "need 3.2 or later"},
		"old macOS":       {func(t *testing.T, _ *release, in *installation) { in.uname(t, "Darwin", "arm64", "20.6.0") }, "need macOS 12"},
		"nothing for it":  {func(t *testing.T, _ *release, in *installation) { in.uname(t, "Darwin", "arm64", "23.0.0") }, "nothing for darwin_arm64"},
		"no downloader":   {func(t *testing.T, _ *release, in *installation) { in.without(t, "curl") }, "neither curl nor wget"},
		"no ssh-keygen":   {func(t *testing.T, _ *release, in *installation) { in.without(t, "ssh-keygen") }, "install OpenSSH"},
		"old ssh-keygen": {func(t *testing.T, _ *release, in *installation) {
			in.script(t, "ssh-keygen", "echo 'unknown option -- Y' >&2; exit 1")
		}, "8.1 or later"},
		"no sha256sum":     {func(t *testing.T, _ *release, in *installation) { in.without(t, "sha256sum") }, "neither sha256sum nor shasum"},
		"unknown argument": {func(_ *testing.T, _ *release, in *installation) { in.args = []string{"--prefix", "/"} }, "unknown argument --prefix"},
		"no value":         {func(_ *testing.T, _ *release, in *installation) { in.args = []string{"--dir"} }, "--dir needs a value"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachShell(t, func(t *testing.T, shell ...string) {
				r := makeRelease(t)
				server := httptest.NewServer(r)
				defer server.Close()
				in := prepare(t, shell...)
				bin := in.bin()
				writeScript(t, filepath.Join(bin, "switchyard"), "echo switchyard v0.9.0")
				in.args = []string{"--url", server.URL}
				c.change(t, r, &in)
				out, ok := in.run(t, r.key)
				if ok || !strings.Contains(out, c.want) {
					t.Errorf("it ends with %v and prints\n%swant %q", ok, out, c.want)
				}
				if got := contents(t, bin); !slices.Equal(got, []string{"switchyard"}) {
					t.Errorf("left are %q", got)
				}
				if old, err := os.ReadFile(filepath.Join(bin, "switchyard")); err != nil || !strings.Contains(string(old), "v0.9.0") {
					t.Errorf("the older version became %q, %v", old, err)
				}
			})
		})
	}
}

func (in installation) uname(t *testing.T, system, machine, kernel string) {
	t.Helper()
	in.script(t, "uname", fmt.Sprintf("case $1 in -s) echo %s ;; -m) echo %s ;; -r) echo %s ;; esac", system, machine, kernel))
}

func folderInPlace(t *testing.T, program string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, program), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestInstallersAgree checks that install.ps1, which needs PowerShell to run, agrees with
// install.sh.
func TestInstallersAgree(t *testing.T) {
	t.Parallel()
	var found [2][]string
	for i, name := range []string{"install.sh", "install.ps1"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, pattern := range []string{`https://github\.com/[\w/-]+/releases`, `-n (switchyard-release)`, `-I (switchyard-release)`, `latest/download`, `SHA256SUMS\.sig`, `(?m)^\$?key ?= ?'?none'?$`} {
			match := regexp.MustCompile(pattern).FindString(string(text))
			if match == "" {
				t.Errorf("%s has no %s", name, pattern)
			}
			found[i] = append(found[i], strings.NewReplacer("$", "", " ", "", "'", "").Replace(match))
		}
	}
	if !slices.Equal(found[0], found[1]) {
		t.Errorf("install.sh has %q, install.ps1 %q", found[0], found[1])
	}
}
