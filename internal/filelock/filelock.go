// Package filelock locks open files against other processes. The caller opens the file,
// because opening it by its path would follow links.
package filelock
