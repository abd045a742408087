package routing_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/bundle"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

// opaBundle packs the Rego files of a directory, including tests, as opa build does.
func opaBundle(t *testing.T, dir string) string {
	t.Helper()
	b := bundle.Bundle{Data: map[string]any{}}
	b.Manifest.Init()
	err := filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		parsed, err := ast.ParseModuleWithOpts(name, string(raw), ast.ParserOptions{RegoVersion: ast.RegoV1})
		if err != nil {
			return err
		}
		b.Modules = append(b.Modules, bundle.ModuleFile{URL: "/" + name, Path: "/" + name, Raw: raw, Parsed: parsed})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	if err := bundle.NewWriter(&packed).DisableFormat(true).Write(b); err != nil {
		t.Fatal(err)
	}
	return writeFile(t, "bundle.tar.gz", packed.Bytes())
}

func writeFile(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

type entry struct{ name, content string }

// archive packs entries that no bundle writer would produce.
func archive(t testing.TB, entries ...entry) string {
	t.Helper()
	var packed bytes.Buffer
	tarred := tar.NewWriter(&packed)
	for _, e := range entries {
		header := &tar.Header{Name: e.name, Mode: 0o600, Size: int64(len(e.content)), Typeflag: tar.TypeReg}
		if target, ok := strings.CutPrefix(e.content, "-> "); ok {
			header.Typeflag, header.Linkname, header.Size, e.content = tar.TypeSymlink, target, 0, ""
		}
		if err := tarred.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := tarred.Write([]byte(e.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := tarred.Close(); err != nil {
		t.Fatal(err)
	}
	return writeFile(t, "archive.tar.gz", zipped(t, packed.Bytes()))
}

func zipped(t testing.TB, content []byte) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// A version is the same policy from every source.
func TestEmbeddedDirectoryAndBundleAreTheSamePolicy(t *testing.T) {
	for _, ref := range policies.Versions() {
		_, version, _ := strings.Cut(ref, "@")
		dir := filepath.Join("../../../policies/routing", version)
		want := load(t, ref)
		for carrier, path := range map[string]string{"directory": dir, "bundle": opaBundle(t, dir)} {
			got := load(t, path)
			if got.Identity() != want.Identity() {
				t.Errorf("%s as a %s is %+v, want %+v", ref, carrier, got.Identity(), want.Identity())
			}
			for _, verify := range []routing.Verify{routing.Green, routing.Red} {
				in := input(1, 3, verify, map[string]int{"researcher": 1})
				if d, err := got.Decide(t.Context(), in); err != nil || d != oracle(ref, in) {
					t.Errorf("%s as a %s: Decide = %+v, %v", ref, carrier, d, err)
				}
			}
		}
	}
}

// A policy may consist of several files, directories and helper packages.
var spread = map[string]string{
	"tables.rego":        goodMetadata + goodTables,
	"decision.rego":      "package switchyard.routing\n\nimport data.lib.names\n\ndecision := {\"next_action\": names.fixer, \"reason\": \"routed\"}\n",
	"lib/names.rego":     "package lib.names\n\nfixer := \"fixer\"\n",
	"decision_test.rego": "package switchyard.routing_test\n\nimport data.switchyard.routing\n\ntest_success_it if routing.decision\n",
}

func TestPoliciesMaySpreadOverFiles(t *testing.T) {
	dir := writeDir(t, spread)
	digests := make(map[string]bool)
	for _, path := range []string{dir, opaBundle(t, dir)} {
		p := load(t, path)
		digests[p.Identity().Digest] = true
		if d, err := p.Decide(t.Context(), clean()); err != nil || d.NextAction != "fixer" {
			t.Errorf("Decide = %+v, %v", d, err)
		}
	}
	if len(digests) != 1 {
		t.Errorf("the same files have the digests %v", digests)
	}
}

func TestDigestIsOverRulesAlone(t *testing.T) {
	digest := func(change func(files map[string]string)) string {
		files := make(map[string]string)
		for name, content := range spread {
			files[name] = content
		}
		change(files)
		return load(t, writeDir(t, files)).Identity().Digest
	}
	base := digest(func(map[string]string) {})
	for name, change := range map[string]func(map[string]string){
		"a test":        func(f map[string]string) { f["more_test.rego"] = "package x_test\n" },
		"a broken test": func(f map[string]string) { f["decision_test.rego"] = "not Rego" },
		"a page":        func(f map[string]string) { f["README.md"] = "words" },
		"data":          func(f map[string]string) { f["data.json"] = `{"lib": {"names": {"fixer": "commit"}}}` },
		"a file name":   func(f map[string]string) { f["zz/names.rego"] = f["lib/names.rego"]; delete(f, "lib/names.rego") },
	} {
		if got := digest(change); got != base {
			t.Errorf("%s changes the digest", name)
		}
	}
	for name, change := range map[string]func(map[string]string){
		"a comment": func(f map[string]string) { f["lib/names.rego"] += "# more\n" },
		"a module":  func(f map[string]string) { f["lib/more.rego"] = "package lib.more\n" },
	} {
		if digest(change) == base {
			t.Errorf("%s does not change the digest", name)
		}
	}
}

func TestLoadTellsWhatIsNotThere(t *testing.T) {
	for _, ref := range []string{"routing@9.9.9", "routing@", "routing@latest", "routing@1.0", "other@1.0.0", "@1.0.0", "routing@..", "routing@1.0.0@1"} {
		_, err := policies.Load(t.Context(), ref)
		f := wantCode(t, err, errs.PolicyUnknown)
		if known, _ := f.Details["known"].([]string); !slices.Equal(known, policies.Versions()) {
			t.Errorf("%s: known is %v", ref, f.Details["known"])
		}
	}
	t.Chdir(t.TempDir())
	for _, path := range []string{"", "routing", "nowhere", filepath.Join(t.TempDir(), "nothing"), "./routing@1.0.0"} {
		_, err := policies.Load(t.Context(), path)
		wantCode(t, err, errs.PolicyNotFound)
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v is not fs.ErrNotExist", path, err)
		}
	}
}

// A directory whose name looks like a release reference can be loaded by a path.
func TestADirectoryNamedLikeAReference(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("mine@1.0.0", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("mine@1.0.0/p.rego", []byte(goodPolicy), 0o600); err != nil {
		t.Fatal(err)
	}
	load(t, "./mine@1.0.0")
	_, err := policies.Load(t.Context(), "mine@1.0.0")
	wantCode(t, err, errs.PolicyUnknown)
}

func TestLoadDoesNotBeginWhenItIsTooLate(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err := policies.Load(ctx, policies.Default)
	wantCode(t, err, errs.PolicyUnreadable)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v does not say that it was cancelled", err)
	}
}

func TestDirectoriesOfTheWrongKindAreRefused(t *testing.T) {
	both := writeDir(t, map[string]string{"a.rego": goodPolicy, "b/a.rego": goodPolicy})
	twice := writeDir(t, map[string]string{
		"a.rego": goodPolicy,
		"b.rego": strings.TrimSuffix(goodMetadata, "\n") + "\n",
	})
	const outside = "package switchyard\n\nrouting.decision := {\"next_action\": \"stuck\", \"reason\": \"x\"} if input.round == 2\n"
	many := make(map[string]string)
	for i := range routing.MaxModules + 1 {
		many[fmt.Sprintf("%d.rego", i)] = "package lib\n"
	}
	crowd := make(map[string]string)
	for i := range routing.MaxEntries {
		crowd[fmt.Sprintf("%d.txt", i)] = ""
	}
	big := goodPolicy + strings.Repeat("#", routing.MaxModuleBytes) + "\n"
	for name, tc := range map[string]struct{ dir, want string }{
		"empty":          {t.TempDir(), "no module declares"},
		"only tests":     {writeDir(t, map[string]string{"a_test.rego": goodPolicy}), "no module declares"},
		"two policies":   {both, "exactly once"},
		"METADATA twice": {twice, "METADATA more than once"},
		"a rule outside": {writeDir(t, map[string]string{"a.rego": goodPolicy, "b.rego": outside}), "b.rego:3:1: a rule of package switchyard.routing must be"},
		"a computed one": {
			writeDir(t, map[string]string{"a.rego": goodPolicy, "b.rego": strings.Replace(outside, "routing.decision", "routing[name]", 1) + "name := \"decision\"\n"}), "must be in a module of that package",
		},
		"too many modules":    {writeDir(t, many), "more than 100 Rego files"},
		"too many files":      {writeDir(t, crowd), "more than 2000 files"},
		"a file too large":    {policyDir(t, big), fmt.Sprintf("policy.rego: it is larger than %d bytes", routing.MaxModuleBytes)},
		"not a policy at all": {policyDir(t, "\x00\x01\xff"), "policy.rego:1:"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := policies.Load(t.Context(), tc.dir)
			wantCode(t, err, errs.PolicyInvalid)
			if got := problemsOf(t, err); !strings.Contains(got, tc.want) {
				t.Errorf("problems do not mention %q:\n%s", tc.want, got)
			}
		})
	}
}

func TestTheLargestModuleLoads(t *testing.T) {
	source := goodPolicy + "#"
	source += strings.Repeat("x", routing.MaxModuleBytes-len(source))
	load(t, policyDir(t, source))
}

func TestSymbolicLinksLeadNowhereOutside(t *testing.T) {
	outside := policyDir(t, goodPolicy)
	for name, target := range map[string]string{
		"absolute": filepath.Join(outside, "policy.rego"),
		"relative": "../../" + filepath.Base(filepath.Dir(outside)) + "/" + filepath.Base(outside) + "/policy.rego",
		"dangling": "nowhere.rego",
		"itself":   "link.rego",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Symlink(target, filepath.Join(dir, "link.rego")); err != nil {
				t.Skip(err)
			}
			_, err := policies.Load(t.Context(), dir)
			wantCode(t, err, errs.PolicyUnreadable)
		})
	}
	t.Run("linked directories are not followed", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Symlink(outside, filepath.Join(dir, "lib")); err != nil {
			t.Skip(err)
		}
		_, err := policies.Load(t.Context(), dir)
		wantCode(t, err, errs.PolicyInvalid) // it has no module
	})
	t.Run("inside is fine", func(t *testing.T) {
		dir := writeDir(t, map[string]string{"real.txt": goodPolicy})
		if err := os.Symlink("real.txt", filepath.Join(dir, "link.rego")); err != nil {
			t.Skip(err)
		}
		load(t, dir)
	})
}

func TestAFolderNamedLikeAModuleIsAFolder(t *testing.T) {
	load(t, writeDir(t, map[string]string{"a.rego/policy.rego": goodPolicy}))
}

func TestBundlesThatAreNoneAreRefused(t *testing.T) {
	good, err := os.ReadFile(opaBundle(t, policyDir(t, goodPolicy)))
	if err != nil {
		t.Fatal(err)
	}
	flipped := slices.Clone(good)
	flipped[len(flipped)-5] ^= 0xff // the checksum
	for name, tc := range map[string]struct {
		content []byte
		want    string
	}{
		"empty":                {nil, "not a bundle"},
		"text":                 {[]byte(goodPolicy), "not a bundle"},
		"truncated":            {good[:len(good)/2], "not a bundle"},
		"bit flipped":          {flipped, "not a bundle"},
		"gzip of words":        {zipped(t, bytes.Repeat([]byte("no tar "), 200)), "not a bundle"},
		"zeros behind its end": {zipped(t, make([]byte, routing.MaxBundleBytes+1)), "unpacked, it is larger than"},
		"too large":            {noise(routing.MaxBundleBytes + 1), "larger than 16777216 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "zeros behind its end" && testing.Short() {
				t.Skip("short mode: under the race detector, unpacking 16 MiB can take longer than loading may")
			}
			_, err := policies.Load(t.Context(), writeFile(t, "b.tar.gz", tc.content))
			wantCode(t, err, errs.PolicyInvalid)
			if got := problemsOf(t, err); !strings.Contains(got, tc.want) {
				t.Errorf("problems do not mention %q:\n%s", tc.want, got)
			}
		})
	}
}

func TestArchivesThatAreHostileAreRefused(t *testing.T) {
	policy := entry{"/policy.rego", goodPolicy}
	zeros := strings.Repeat("\x00", routing.MaxModuleBytes)
	hostile := []entry{policy}
	for i := range routing.MaxBundleBytes/routing.MaxModuleBytes + 1 {
		hostile = append(hostile, entry{fmt.Sprintf("/%d.bin", i), zeros})
	}
	crowd := []entry{policy}
	for i := range routing.MaxEntries {
		crowd = append(crowd, entry{fmt.Sprintf("/%d.bin", i), ""})
	}
	many := []entry{policy}
	for i := range routing.MaxModules {
		many = append(many, entry{fmt.Sprintf("/%d.rego", i), "package lib\n"})
	}
	for name, tc := range map[string]struct {
		entries []entry
		want    string
	}{
		"unpacks too far":     {hostile, "unpacked, it is larger than"},
		"too many files":      {crowd, "more than 2000 files"},
		"too many modules":    {many, "more than 100 Rego files"},
		"a file too large":    {[]entry{{"/policy.rego", goodPolicy + zeros}}, "/policy.rego: it is larger than"},
		"a file twice":        {[]entry{policy, {"/lib.rego", "package lib\n"}, {"/lib.rego", "package lib\n\nx := 1\n"}}, "lib.rego: the file is there twice"},
		"no policy":           {[]entry{{"/policy.txt", goodPolicy}}, "no module declares"},
		"a link for a policy": {[]entry{{"/policy.rego", "-> /etc/hostname"}}, "policy.rego: it is a link"},
		"data":                {[]entry{policy, {"/data.json", `{"a": 1}`}}, "contains data"},
		"broken data":         {[]entry{policy, {"/data.json", `{"a`}}, ""},
		"broken manifest":     {[]entry{policy, {"/.manifest", `{"roots": 1}`}}, ""},
		"broken Rego":         {[]entry{{"/policy.rego", goodPolicy + "x := {"}}, "policy.rego:"},
		"outside the roots":   {[]entry{policy, {"/.manifest", `{"roots": ["elsewhere"]}`}}, "roots"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "unpacks too far" && testing.Short() {
				t.Skip("short mode: under the race detector, unpacking 16 MiB can take longer than loading may")
			}
			_, err := policies.Load(t.Context(), archive(t, tc.entries...))
			wantCode(t, err, errs.PolicyInvalid)
			if got := problemsOf(t, err); !strings.Contains(got, tc.want) {
				t.Errorf("problems do not mention %q:\n%s", tc.want, got)
			}
		})
	}
}

// noise returns n bytes that do not compress; they are the same on every run.
func noise(n int) []byte {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}
