package task

// Command is what somebody wants of a task: one of the types of this package
// that have a method decide.
type Command interface {
	decide(State) (Event, error)
}

// Decide says what a command makes of a task. A nil Event without an error
// says that there is nothing to do: it was done before.
//
// # Errors
//
// A *errs.Error that says why the command is refused, or another error where the
// caller asks for what no user can. The state is then as it was.
func Decide(s State, c Command) (Event, error) { return c.decide(s) }
