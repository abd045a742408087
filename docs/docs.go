// Package docs has the pages that the program itself reads.
package docs

import _ "embed"

// Errors is errors.md. Its tables give each error code a meaning and a hint.
//
//go:embed errors.md
var Errors string
