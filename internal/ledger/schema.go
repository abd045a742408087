package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// applicationID marks our databases in SQLite's file header: "SwYd".
const applicationID = 0x53775964

var setApplicationID = fmt.Sprintf("PRAGMA application_id = %d", applicationID)

// version is a version of the schema: the statements that migrate to it and all objects
// that a database of that version has. Released versions never change.
type version struct {
	up      []string
	objects []object // ordered by kind, then name
	// rebuild is set if this version computes entries or counters differently, so that a
	// migration recomputes them from the events. The form of states never changes, because
	// events contain their digest.
	rebuild bool
}

// object is a row of sqlite_schema. The index of a constraint has no text.
type object struct{ kind, name, table, text string }

const createEvents = `CREATE TABLE events (
  seq  INTEGER PRIMARY KEY,
  task TEXT NOT NULL,
  n    INTEGER NOT NULL,
  at   TEXT NOT NULL,
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  prev TEXT NOT NULL,
  hash TEXT NOT NULL,
  UNIQUE (task, n)
) STRICT`

// createTasks stores rows in the order of ids, so listing all tasks reads every page once.
const createTasks = `CREATE TABLE tasks (
  task  TEXT NOT NULL PRIMARY KEY,
  n     INTEGER NOT NULL,
  head  TEXT NOT NULL,
  state TEXT NOT NULL
) STRICT, WITHOUT ROWID`

const createEntries = `CREATE TABLE entries (
  task  TEXT NOT NULL,
  key   TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (task, key)
) STRICT, WITHOUT ROWID`

// createTallies stores the counters of a measure in one range, ordered by labels.
const createTallies = `CREATE TABLE tallies (
  measure TEXT NOT NULL,
  labels  TEXT NOT NULL,
  sum     INTEGER NOT NULL,
  seq     INTEGER NOT NULL,
  at      TEXT NOT NULL,
  note    TEXT,
  PRIMARY KEY (measure, labels)
) STRICT, WITHOUT ROWID`

// countersVersion is the first version with all counters.
const countersVersion = 4

// released returns all versions of the schema, oldest first. A database's user_version is
// the number of its version, from 1.
func released() []version {
	table := func(name, text string) object { return object{"table", name, name, text} }
	eventsIndex := object{"index", "sqlite_autoindex_events_1", "events", ""}
	entries, events := table("entries", createEntries), table("events", createEvents)
	tallies, tasks := table("tallies", createTallies), table("tasks", createTasks)
	all := []object{eventsIndex, entries, events, tallies, tasks}
	return []version{{
		up:      []string{createEvents, createTasks, createEntries},
		objects: []object{eventsIndex, entries, events, tasks},
	}, {
		up:      []string{createTallies},
		objects: all,
		rebuild: true,
	}, {
		// It counts commits by their bar.
		objects: all,
		rebuild: true,
	}, {
		// It counts agents' processes by their confinement level.
		objects: all,
		rebuild: true,
	}, {
		// Bodies of events can be in the archive.
		objects: all,
	}}
}

// SchemaVersion returns the latest version of the schema.
func SchemaVersion() int { return len(released()) }

// upgrade accepts a database of the latest version, migrates an older one in one
// transaction, and refuses any other. It gives the database a log if it has none. Without a
// fold it changes nothing.
func upgrade(ctx context.Context, db *sql.DB, versions []version, fold Fold, from archive) error {
	var at int
	err := inTx(ctx, db, true, func(tx *sql.Tx) (err error) {
		at, err = check(ctx, tx, versions)
		return err
	})
	if err != nil || fold == nil {
		return err
	}
	// A copy made with VACUUM INTO has no log.
	var journal string
	if err := db.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&journal); err != nil {
		return err
	}
	if journal != "wal" {
		return corrupt("its journal mode is %q, not wal", journal)
	}
	if at == len(versions) {
		return nil
	}
	return inTx(ctx, db, false, func(tx *sql.Tx) error {
		// Check again: another process may have migrated it.
		at, err := check(ctx, tx, versions)
		if err != nil || at == len(versions) {
			return err
		}
		return migrate(ctx, tx, versions, at, fold, from)
	})
}

// check returns the version of a database, or an error unless it has exactly the schema of
// this version.
func check(ctx context.Context, tx *sql.Tx, versions []version) (int, error) {
	id, err := queryInt(ctx, tx, "PRAGMA application_id")
	if err != nil {
		return 0, err
	}
	if id != applicationID {
		return 0, corrupt("the database belongs to another application")
	}
	at, err := userVersion(ctx, tx, versions)
	if err != nil {
		return 0, err
	}
	return at, compare(ctx, tx, versions[at-1].objects)
}

// userVersion returns the database's schema version, from 1 to the latest known.
func userVersion(ctx context.Context, tx *sql.Tx, versions []version) (int, error) {
	at, err := queryInt(ctx, tx, "PRAGMA user_version")
	switch {
	case err != nil:
		return 0, err
	case at > int64(len(versions)):
		return 0, errs.New(errs.LedgerNewer, "the ledger's schema is version %d, this program knows %d", at, len(versions)).
			With("found", at).With("supported", int64(len(versions)))
	case at < 1:
		return 0, corrupt("its schema has version %d", at)
	}
	return int(at), nil
}

// compare fails unless the database has exactly the objects in want.
func compare(ctx context.Context, tx *sql.Tx, want []object) error {
	var got object
	rest := want
	err := eachRow(ctx, tx, []any{&got.kind, &got.name, &got.table, &got.text}, func() error {
		if len(rest) == 0 || got != rest[0] {
			return corrupt("its schema has the %s %q, which is foreign, changed, or follows something that is missing", got.kind, got.name)
		}
		rest = rest[1:]
		return nil
	}, "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema ORDER BY type, name")
	if err == nil && len(rest) > 0 {
		err = corrupt("its schema lacks the %s %q", rest[0].kind, rest[0].name)
	}
	return err
}

// migrate brings a database from a version to the latest one. Version 0 is an empty file.
func migrate(ctx context.Context, tx *sql.Tx, versions []version, at int, fold Fold, from archive) error {
	for _, v := range versions[at:] {
		for _, statement := range v.up {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		if err := compare(ctx, tx, v.objects); err != nil {
			return err
		}
	}
	// An empty file has no events to recompute anything from.
	if at > 0 && slices.ContainsFunc(versions[at:], func(v version) bool { return v.rebuild }) {
		if err := rebuild(ctx, tx, fold, from); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, fmt.Sprintf("%s; PRAGMA user_version = %d",
		setApplicationID, len(versions)))
	return err
}
