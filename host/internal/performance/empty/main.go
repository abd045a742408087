// Command empty is an empty Go program, to compare the start of other programs with.
package main

func main() {}
