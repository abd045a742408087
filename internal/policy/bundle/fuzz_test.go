package bundle_test

import (
	"reflect"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/bundle"
)

// FuzzRead requires a typed error, or contents that can be written and read again. It
// packs the fuzzer's tar file itself, because random data would fail gzip's checksum.
func FuzzRead(f *testing.F) {
	f.Add(tarred(f, entry("/data.json", "{}"), entry("/p.rego", rego), entry("/.manifest", manifest)), true)
	f.Add(tarred(f, entry("p.rego", rego), entry(".signatures.json", signatures(token(goodHeader, "{"+listed("p.rego", rego)+"}")))), true)
	f.Add(tarred(f, entry("./a/p.rego", rego), entry(".manifest.pb", "\x0a\x017")), true)
	f.Add(sparse("p.rego", 1<<10), true)
	f.Add([]byte{0x1f, 0x8b}, false)
	for _, tc := range hostile(f) {
		if len(tc.archive) < 1<<16 {
			f.Add(tc.archive, false)
		}
	}
	f.Fuzz(func(t *testing.T, content []byte, pack bool) {
		if pack {
			content = zipped(t, content)
		}
		got, err := bundle.Read(content, limits(), nil)
		if err != nil {
			wantCode(t, err, errs.PolicyInvalid)
			return
		}
		again := bundle.Draft{Revision: got.Revision, Roots: got.Roots}
		for _, file := range got.Files {
			if file.Name == "policy.wasm" { // a draft has it with its entrypoint
				return
			}
			again.Files = append(again.Files, file)
		}
		packed, err := again.Pack()
		if err != nil {
			t.Fatalf("%+v cannot be written: %v", got, err)
		}
		if _, err := bundle.Read(packed, bundle.Limits{Packed: 1 << 30, Unpacked: 1 << 30, Module: 1 << 30, Entries: 1 << 20}, nil); err != nil {
			t.Fatalf("%+v cannot be read again: %v", got, err)
		}
		_, err = bundle.Read(content, limits(), shared())
		if code := errs.CodeOf(err); err != nil && code == errs.PolicyInvalid {
			t.Fatalf("the same archive is malformed where a signature is asked for: %v", err)
		}
	})
}

// FuzzToken requires that only tokens signed with the secret are accepted, and a typed
// error otherwise.
func FuzzToken(f *testing.F) {
	f.Add(goodHeader, "{"+listed("p.rego", rego)+"}", "", true)
	f.Add(`{"alg":"none"}`, `{"exp":1e99}`, "c2ln", false)
	f.Fuzz(func(t *testing.T, header, payload, signature string, sign bool) {
		made := encode(header) + "." + encode(payload) + "." + signature
		if sign {
			made = token(header, payload)
		}
		got, err := bundle.Read(packed(t, "p.rego", rego, ".signatures.json", signatures(made)), limits(), shared())
		switch {
		case err == nil && !sign:
			t.Fatalf("%s was taken", made)
		case err != nil && errs.CodeOf(err) == "":
			t.Fatalf("%v has no code", err)
		case err != nil && !reflect.DeepEqual(got, bundle.Contents{}):
			t.Fatalf("contents came with %v", err)
		}
	})
}
