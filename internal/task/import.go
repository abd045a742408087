package task

import (
	"cmp"
	"fmt"
)

// ImportTask imports a task from another tool.
type ImportTask struct{ TaskImported }

func (c ImportTask) decide(s State) (Event, error) {
	if err := allow(s, KindImported); err != nil {
		return nil, err
	}
	// Without its own cap it gets the project's when it continues.
	if err := checkCap(c.Round, cmp.Or(c.MaxRounds, MaxRounds)); err != nil {
		return nil, err
	}
	if c.Round < 1 {
		return nil, fmt.Errorf("a task cannot be imported in round %d", c.Round)
	}
	return c.TaskImported, nil
}
