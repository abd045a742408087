package nubospilot

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/internal/digest"
)

// schema is the supported version of checkpoints.
const schema = 1

// checkpoint reads one checkpoint.
type checkpoint struct {
	*reader
	shared *shared
	// file is its name in messages.
	file string
	task Task
	// action is the decision of the last phase.
	action string
}

// parse reads a checkpoint. Its error says why the task cannot be imported at all.
func (c *checkpoint) parse(id string, data []byte) error {
	top, ok := objectOf(data)
	if !ok {
		return errors.New("it is not a JSON object, or it is damaged")
	}
	if err := version(top); err != nil {
		return err
	}
	statuses := []string{"in-progress", "verifying", "pre-commit", "done", "stuck"}
	c.task = Task{ID: id, Status: top.text("status"), Round: 1, Digest: digest.Of(data)}
	switch {
	case len(id) > maxID:
		return fmt.Errorf("its task id has more than %d characters", maxID)
	case top.text("task_id") != id:
		return errors.New("it is about another task than its name says")
	case !slices.Contains(statuses, c.task.Status):
		return fmt.Errorf("its status is not one of %s", strings.Join(statuses, ", "))
	}
	if top.says("nubosloop") {
		loop, ok := objectOf(top["nubosloop"])
		if !ok {
			return errors.New("its nubosloop is not an object")
		}
		if err := c.loop(loop); err != nil {
			return err
		}
	}
	c.task.StartedAt = c.time(top, "started_at")
	c.task.UpdatedAt = c.time(top, "last_update")
	groups := topGroups()
	c.shared.add(id, top, groups)
	if names := unknown(top, groups, "schema_version", "task_id", "status", "started_at", "last_update", "nubosloop"); len(names) > 0 {
		c.leave(c.file+": "+some(names), "nobody here knows these keys")
	}
	return nil
}

func version(top object) error {
	n, ok := countOf(top["schema_version"])
	switch {
	case !top.says("schema_version"):
		return errors.New("it has no schema version")
	case !ok:
		return errors.New("its schema version is damaged")
	case n > schema:
		return fmt.Errorf("it has schema version %d, which is newer than %d", n, schema)
	}
	return nil
}

func (c *checkpoint) time(o object, name string) time.Time {
	if !o.says(name) {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, o.text(name))
	if err != nil {
		c.leave(c.file+": "+name, "it is no time")
		return time.Time{}
	}
	return at
}
