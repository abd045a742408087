// Command empty does nothing. The start of other programs is compared with its own.
package main

func main() {}
