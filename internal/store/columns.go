package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"assay"
)

// A column list and its fields function belong together. The fields are
// pointers, in the order of the columns: to write a row they are the values,
// to read one they are where to scan it.

const runColumns = "id, plan, plan_text, plan_file, options, seed, started, finished, status, version, host, reference, least_ns, targets, files, spent"

func runFields(r *assay.Run) []any {
	return []any{&r.ID, &r.Plan, &r.PlanText, &r.PlanFile, asJSON{&r.Options}, asJSON{&r.Seed},
		asTime{&r.Started}, asTime{&r.Finished}, &r.Status, &r.Version, asJSON{&r.Host},
		asText{&r.Baseline}, &r.MinTime, rowCount{&r.Targets}, asJSON{&r.Files}, asJSON{&r.Spent}}
}

const targetColumns = "driver, driver_version, engine, engine_version, build, facts, compile_options, options, layouts"

func targetFields(t *assay.Target) []any {
	return []any{&t.Driver, &t.DriverVersion, &t.Engine, &t.EngineVersion, &t.Build,
		asJSON{&t.Facts}, asJSON{&t.CompileOptions}, asJSON{&t.Options}, &t.Layouts}
}

const trialColumns = "plan, workload, operation, engine, driver, driver_version, build, profile, without," +
	" clients, pool, idle, statement, transaction_size, rate, params, as_published," +
	" group_name, launch, twin, mode, outcome, reason, durability, query_plan, dsn, each_sql, digest," +
	" warnings, samples, histogram," +
	" started, took_ns, steal, foreign_cpu, disqualified, figures, settings, options, layout, checked, begin_mode, processes"

func trialFields(t *assay.Trial) []any {
	c := &t.Cell
	return []any{
		&c.Plan, &c.Workload, &c.Operation, &c.Engine, &c.Driver, &c.DriverVersion, &c.Build, &c.Profile, &c.Without,
		&c.Clients, &c.Pool, &c.Idle, &c.Statement, &c.Transaction, &c.Rate, asJSON{&c.Params}, &c.AsPublished,
		groupName{t}, &t.Launch, &t.Twin, &t.Mode, &t.Outcome, &t.Reason, &t.Durability, &t.QueryPlan, &t.DSN, asJSON{&t.Each}, &t.Digest,
		asJSON{&t.Warnings},
		asJSONList[assay.Sample, [2]int64]{&t.Samples, toSample, fromSample},
		asJSONList[assay.Bucket, [2]int64]{&t.Histogram, toBucket, fromBucket},
		asTime{&t.Started}, &t.Took, &t.Noise.Steal, &t.Noise.Foreign, &t.Disqualified,
		rowCount{&t.Figures}, rowCount{&t.Settings}, &c.Options, &t.Layout, &t.Checked, &c.Begin, &c.Processes,
	}
}

const settingColumns = "name, connection, requested, issued, effective, applied"

func settingFields(s *assay.Setting) []any {
	return []any{&s.Name, &s.Connection, &s.Requested, &s.Issued, &s.Effective, &s.Applied}
}

// groupName keeps the name of a trial's group. In files, the names of the ablation's
// groups begin with ablationPrefix.
type groupName struct{ trial *assay.Trial }

const ablationPrefix = "without|"

func (c groupName) Value() (driver.Value, error) { return c.String(), nil }

func (c groupName) String() string {
	if c.trial.Ablation {
		return ablationPrefix + c.trial.Group
	}
	return c.trial.Group
}

func (c groupName) Scan(text any) error {
	s, ok := text.(string)
	if !ok {
		return fmt.Errorf("a group's name expected, found %T", text)
	}
	c.trial.Group, c.trial.Ablation = strings.CutPrefix(s, ablationPrefix)
	return nil
}

// rowsInStatement keeps the parameters of a statement below every engine's limit.
const rowsInStatement = 500

// insertAll adds rows to a table, in few statements: each is a way to the server
// and back.
func insertAll(ctx context.Context, tx *sql.Tx, table, columns string, rows [][]any) error {
	for some := range slices.Chunk(rows, rowsInStatement) {
		more := ", (" + marks(columns) + ")"
		_, err := tx.ExecContext(ctx, insertion(table, columns)+strings.Repeat(more, len(some)-1), slices.Concat(some...)...)
		if err != nil {
			return err
		}
	}
	return nil
}

func insertion(table, columns string) string {
	return "INSERT INTO " + table + " (" + columns + ") VALUES (" + marks(columns) + ")"
}

func marks(columns string) string {
	return strings.Repeat(", ?", strings.Count(columns, ",")+1)[2:]
}

func toSample(p [2]int64) assay.Sample   { return assay.Sample{Operations: p[0], Nanos: p[1]} }
func fromSample(s assay.Sample) [2]int64 { return [2]int64{s.Operations, s.Nanos} }

func toBucket(p [2]int64) assay.Bucket   { return assay.Bucket{Upper: p[0], Count: p[1]} }
func fromBucket(b assay.Bucket) [2]int64 { return [2]int64{b.Upper, b.Count} }

// asText keeps a value as it is written.
type asText struct {
	value interface {
		encoding.TextMarshaler
		encoding.TextUnmarshaler
	}
}

func (c asText) Value() (driver.Value, error) {
	text, err := c.value.MarshalText()
	return string(text), err
}

func (c asText) Scan(text any) error {
	s, ok := text.(string)
	if !ok {
		return fmt.Errorf("a text expected, found %T", text)
	}
	return c.value.UnmarshalText([]byte(s))
}

// asJSON keeps what value points to as JSON text.
type asJSON struct{ value any }

func (c asJSON) Value() (driver.Value, error) {
	text, err := json.Marshal(c.value)
	return string(text), err
}

func (c asJSON) Scan(text any) error {
	s, ok := text.(string)
	if !ok {
		return fmt.Errorf("JSON expected, found %T", text)
	}
	return json.Unmarshal([]byte(s), c.value)
}

// asJSONList keeps a list of T as a JSON list of J.
type asJSONList[T, J any] struct {
	list *[]T
	to   func(J) T
	from func(T) J
}

func (c asJSONList[T, J]) Value() (driver.Value, error) {
	list := convert(*c.list, c.from)
	return asJSON{&list}.Value()
}

func (c asJSONList[T, J]) Scan(text any) error {
	var list []J
	err := asJSON{&list}.Scan(text)
	*c.list = convert(list, c.to)
	return err
}

// convert applies f to each; nil stays nil.
func convert[A, B any](list []A, f func(A) B) []B {
	if list == nil {
		return nil
	}
	converted := make([]B, len(list))
	for i, a := range list {
		converted[i] = f(a)
	}
	return converted
}

// asTime keeps a time as text of fixed width in UTC, and the zero time as NULL.
type asTime struct{ t *time.Time }

const timeLayout = "2006-01-02T15:04:05.000000000Z"

func (c asTime) Value() (driver.Value, error) {
	if c.t.IsZero() {
		return nil, nil
	}
	return c.t.UTC().Format(timeLayout), nil
}

func (c asTime) Scan(text any) (err error) {
	*c.t = time.Time{}
	switch s := text.(type) {
	case nil:
	case string:
		*c.t, err = time.Parse(timeLayout, s)
	default:
		err = fmt.Errorf("a time expected, found %T", text)
	}
	return err
}

// rowCount keeps how many rows of another table a list or a map has, and NULL for nil.
// Scanning leaves an empty one with room for them.
type rowCount struct{ of any } // points to it

func (c rowCount) Value() (driver.Value, error) {
	of := reflect.ValueOf(c.of).Elem()
	if of.IsNil() {
		return nil, nil
	}
	return int64(of.Len()), nil
}

func (c rowCount) Scan(size any) error {
	of := reflect.ValueOf(c.of).Elem()
	switch {
	case !isCount(size):
		return fmt.Errorf("a count or no value expected, found %v", size)
	case size == nil:
		of.SetZero()
	case of.Kind() == reflect.Map:
		of.Set(reflect.MakeMap(of.Type()))
	default:
		of.Set(reflect.MakeSlice(of.Type(), 0, 0))
	}
	return nil
}

// isCount reports whether a value of a database or of a file is how many rows there are,
// or none.
func isCount(size any) bool {
	switch n := size.(type) {
	case nil:
		return true
	case int64:
		return n >= 0
	case float64:
		return n >= 0 && n == math.Trunc(n)
	}
	return false
}
