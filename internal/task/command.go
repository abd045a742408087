package task

// Command is a request to change a task: one of the types of this package with a method
// decide.
type Command interface {
	decide(State) (Event, error)
}

// Decide returns the event of a command. A nil Event without an error means that there is
// nothing to do: it was done before.
//
// # Errors
//
// A *errs.Error if the command is refused, or another error if the caller's request is
// impossible. The state is unchanged.
func Decide(s State, c Command) (Event, error) { return c.decide(s) }
