// Package filelock locks open files against other processes.
//
// A package that opens the file by its path would follow links on the way: whoever
// locks has opened the file, in the way that it has to be opened.
package filelock
