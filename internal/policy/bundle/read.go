// Package bundle reads, verifies, writes and signs policy bundles in the format
// of the Open Policy Agent: a gzipped tar file with Rego modules, a manifest, and
// a JSON Web Token over the digests of all files.
//
// OPA's own code says what a manifest and a signature mean, so that OPA's tools
// and this package agree about every bundle. What it leaves open is closed here:
// an archive that two readers could take for two different things is refused, and
// a signature counts only with a key, an algorithm, a scope and a time that we
// agree to.
//
// Every error is a *fault.Error with one of the codes of this package. Nothing is
// ever written to disk.
package bundle

// File is one file of a bundle.
type File struct {
	// Name is its path within the bundle, with slashes and without one in front.
	Name string
	// Data is all of it.
	Data []byte
}

// Limits bounds what Read takes in. All of them are needed.
type Limits struct {
	// Packed and Unpacked are how large the archive may be, in bytes, as it is and
	// uncompressed.
	Packed, Unpacked int64
	// Module is how large each Rego file may be, in bytes.
	Module int64
	// Entries is how many files and folders there may be.
	Entries int
}

// Contents is what a bundle holds.
type Contents struct {
	// Files are the modules with their tests and everything else but data, the
	// manifest and the signature, in the archive's order. A compiled policy.wasm is
	// among them, but nothing in it was looked at.
	Files []File
	// Revision is what the manifest calls this bundle, "" where it does not. It is
	// short and printable.
	Revision string
	// Roots are the paths that the bundle's packages and data keep to, as in
	// "switchyard/routing". The root "" holds every path.
	Roots []string
	// Entrypoints are the rules that the manifest says are compiled into a .wasm file,
	// as in "switchyard/routing/decision".
	Entrypoints []string
	// Signer is the ID of the key that signed the bundle, "" where no signature was
	// asked for.
	Signer string
	// Data says that the bundle carries data, other than one empty object.
	Data bool
}

// Read reads a bundle and, where t is not nil, verifies its signature first: it
// must be by one of t's keys and over exactly the files that are there. Without t a
// signature is not looked at.
//
// What OPA calls a delta bundle is refused, since a policy is read whole, and so
// is data in YAML. The archive may name its files as OPA's tools do, with one slash
// in front, or as tar does, with "./"; any other name that is not plainly one path
// within the bundle is refused, and so is everything that is no file or folder.
//
// # Errors
//
//   - policy-invalid: packed is no bundle, not one for us, or over a limit.
//   - policy-key-invalid: a key of t's cannot be used, or t has none.
//   - policy-unsigned, policy-signature-invalid, policy-signature-expired, policy-key-unknown,
//     policy-scope-mismatch: the bundle does not verify.
func Read(packed []byte, l Limits, t *Trust) (Contents, error) {
	if err := t.Check(); err != nil {
		return Contents{}, err
	}
	files, err := unpack(packed, l)
	if err != nil {
		return Contents{}, err
	}
	if err := checkLayout(files); err != nil {
		return Contents{}, err
	}
	signer, err := t.verify(files)
	if err != nil {
		return Contents{}, err
	}
	c, err := interpret(files)
	if err != nil {
		return Contents{}, err
	}
	c.Signer = signer
	return c, nil
}
