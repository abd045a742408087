//go:build !wasip1

package sdk

import "embed"

// Source has the SDKs and the worked examples, by their paths in this directory, for package
// scaffold. Guests do not contain it.
//
//go:embed sdk.go categories.go decode.go errors.go exports.go value.go write.go
//go:embed assemblyscript/*.ts c/switchyard.h
//go:embed examples/go/main.go examples/go/main_test.go examples/go/Makefile
//go:embed examples/assemblyscript/guest.ts examples/assemblyscript/tsconfig.json
//go:embed examples/assemblyscript/package.json examples/assemblyscript/package-lock.json
//go:embed examples/c/guest.c examples/c/compile_flags.txt examples/c/Makefile
//go:embed examples/c/build.mjs examples/c/package.json examples/c/package-lock.json
//go:embed examples/corpus/*.json
var Source embed.FS
