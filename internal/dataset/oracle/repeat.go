package oracle

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"assay"
	"assay/internal/dataset"
)

// repeats says why an operation may do something else with another driver, or at
// another time, though each is right: then nothing follows from playing it here.
func repeats(ctx context.Context, conn *sql.Conn, op assay.Operation) error {
	all := []assay.Operation{op}
	for _, part := range op.Parts {
		if part.Operation.Changes {
			all = append(all, part.Operation)
		}
	}
	calling := false
	for _, o := range all {
		for _, step := range o.Steps {
			if dataset.TextVaries(step.SQL) {
				return fmt.Errorf("operation %q does something else each time: %s", o.Name, step.SQL)
			}
			calls, err := callsOthers(ctx, conn, step)
			if err != nil {
				return err
			}
			calling = calling || calls
		}
	}
	if !calling {
		return nil
	}
	var trigger error
	err := query(ctx, conn, "SELECT name, sql FROM main.sqlite_schema WHERE type = 'trigger'", func(row []any) {
		if text := fmt.Sprint(row[1]); dataset.TextVaries(text) {
			trigger = fmt.Errorf("trigger %v does something else each time: %s", row[0], text)
		}
	})
	if err != nil || trigger != nil {
		return errors.Join(err, trigger)
	}
	// Whether they act is a setting, which profiles have or not.
	var acting int
	err = conn.QueryRowContext(ctx, `SELECT count(*) FROM pragma_table_list AS t JOIN pragma_foreign_key_list(t.name) AS f
		WHERE t.schema = 'main' AND (f.on_delete NOT IN ('NO ACTION', 'RESTRICT') OR f.on_update NOT IN ('NO ACTION', 'RESTRICT'))`).Scan(&acting)
	if err == nil && acting > 0 {
		err = fmt.Errorf("%d foreign keys change rows where they are enforced", acting)
	}
	return err
}

// callsOthers reports whether a statement can do more than it says, whatever the settings:
// SQLite's program for it calls that of a trigger, one of DELETE for a row that it replaces
// among them, or of a foreign key.
func callsOthers(ctx context.Context, conn *sql.Conn, step assay.Step) (calls bool, err error) {
	if step.Script {
		return true, nil // only a single statement can be explained
	}
	enforce := func(on bool) error {
		_, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA foreign_keys = %[1]t; PRAGMA recursive_triggers = %[1]t", on))
		return err
	}
	if err := enforce(true); err != nil {
		return false, err
	}
	err = query(ctx, conn, "EXPLAIN "+step.SQL, func(row []any) { calls = calls || row[1] == "Program" }, make([]any, len(step.Args))...)
	return calls, errors.Join(err, enforce(false))
}
