// Package draft writes a plan for a user's own database and queries.
//
// Of what a plan says beyond the queries, little is concluded: an equality draws from its
// column, a new key continues, LIMIT is 20, what is written is what another row has. The rest
// stands in the plan as TODO. All else was tried: every operation is run on a private copy
// of the database as a run prepares it, and one that fails is left out, with the reason.
// The database itself is only read, by package dataset.
//
// The way through the package: script.go splits the file of queries, log.go reads a log of
// traffic, schema.go reads tables and values, understand.go makes operations: uses.go finds
// out what an argument is compared with, arguments.go writes the SQL that gives it, statement.go
// and operation.go add what SQLite does with a query and what proves it. probe.go tries it,
// write.go writes it.
package draft

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"assay"
	"assay/internal/build/catalog"
	"assay/internal/dataset"
	"assay/internal/dataset/recording"
)

// launches of each cell that the budget is for: the least that give an interval.
const launches = 6

// Log holds what one process of a program did.
type Log struct {
	Name string // of its file, for messages
	Data []byte
}

// LogsName is the name of the only log, or how many there are; empty without any.
func LogsName(logs []Log) string {
	switch len(logs) {
	case 0:
		return ""
	case 1:
		return logs[0].Name
	}
	return fmt.Sprint(len(logs), " logs")
}

// Options says what to draft a plan from.
type Options struct {
	Database string // the user's SQLite file
	Queries  string // name of the file of queries, for messages
	SQL      string // its content
	Logs     []Log  // of the program's traffic, one of each process: their form is in docs/traffic.md
	// AsRecorded says that the database is as it was when the log began, whenever it was changed.
	AsRecorded bool
	Drivers    []catalog.Driver // all that are known
	Folder     string           // an empty one, for the copy
	// Timeout bounds the CPU time of what is tried of one query, a third of Total its time, and
	// Total that of all; one that takes longer, or that no time is left for, is left out.
	Timeout, Total time.Duration
	CPU            func() time.Duration // how much CPU time this process has used
	recorded       string               // an SQLite file with the arguments of a log; empty: there are none
	// Block bounds what the operations of a block take in this process.
	Block time.Duration
	// CopyTimeout bounds the copying of the database.
	CopyTimeout time.Duration
	// Progress is told what comes next. It may be nil.
	Progress func(what string)
	Plan     string // where the plan will lie: it names the database relative to itself
	// Next are the commands that come next, as they can be pasted into a shell.
	Next []string
	// Estimate returns how long so many launches of all cases take on the data.
	Estimate func(data *dataset.Data, cases []assay.Case, launches int) time.Duration
	// Refused builds a driver, NAME[:OPTION...], and asks it to prepare operations on
	// the private copy of the data at a path, which it leaves as it is. It returns by
	// operation why the driver refuses it; its error says that the driver cannot be asked. It may be nil: then nobody is asked, and
	// the plan names all drivers as they are.
	Refused func(ctx context.Context, driver, path string, data *dataset.Data, operations []assay.Operation) (map[string]error, error)
}

// Draft is a drafted plan, which decodes.
type Draft struct {
	Text       string
	Cells      int
	Budget     time.Duration
	Recorded   []byte   // the SQLite file RecordedName, which belongs beside the plan; nil: there is none
	Operations []string // names of those that are measured
	Mix        string   // the name of that of all; empty: there is none
	LeftOut    []string // statements that are not, with line and reason
	ToDo       []string // arguments that the user must write
	Decisions  []string // what only the user knows, and the draft assumes
	// Unreplayable says why what the log has cannot be done again; empty: it can, or there is none.
	Unreplayable string
	Measured     []string // what the log shows of the traffic
	Differs      []string // where the drafted operations differ from the log
	// Interrupted says that the context ended when every operation had been tried: drivers
	// are named that were not asked whether they can run them.
	Interrupted bool
}

// InputError is a mistake in what the user gave: the database or the queries.
type InputError struct{ Err error }

// Error returns the mistakes, one a line.
func (e *InputError) Error() string { return e.Err.Error() }

// Unwrap returns the mistakes.
func (e *InputError) Unwrap() error { return e.Err }

// Make drafts a plan. The database is copied to the folder, and not changed. The
// error is an InputError where the database or the log cannot be read, and where no
// query can be measured, with the reason of each. A context that ends when all operations
// have been tried does not lose what they showed: the draft says that it was interrupted.
func Make(ctx context.Context, options Options) (draft *Draft, err error) {
	scripts, log, err := readInputs(ctx, &options)
	if err != nil {
		return nil, err
	}
	d, err := newDrafter(ctx, options)
	if err != nil {
		return nil, err
	}
	d.until = time.Now().Add(options.Total)
	defer func() { err = errors.Join(err, d.schema.db.Close()) }()
	d.log = log
	if err := d.understand(ctx, scripts); err != nil {
		return nil, err
	}
	if err := d.try(ctx); err != nil {
		return nil, err
	}
	if err = d.choose(ctx); err != nil && ctx.Err() == nil {
		return nil, err
	}
	d.interrupted = ctx.Err() != nil
	return d.finish()
}

// readInputs finds the operations of the queries and of the log, which it records.
func readInputs(ctx context.Context, options *Options) ([]*script, *logged, error) {
	scripts, err := split(options.SQL)
	if err == nil && len(scripts) == 0 && len(options.Logs) == 0 {
		err = errors.New("there is no query in it")
	}
	if err != nil {
		return nil, nil, &InputError{fmt.Errorf("%s: %w", options.Queries, err)}
	}
	if len(options.Logs) == 0 {
		return scripts, nil, nil
	}
	options.recorded = filepath.Join(options.Folder, "recorded.db")
	out, err := recording.Create(ctx, options.recorded)
	if err != nil {
		return nil, nil, err
	}
	log, err := recordLogs(ctx, out, options.Logs...)
	if err != nil {
		_, _ = out.Close(ctx, "")
		return nil, nil, &InputError{err}
	}
	scripts = attach(scripts, log)
	if err := keepArguments(ctx, out, scripts); err != nil {
		return nil, nil, err
	}
	log.notReplayable, err = out.Close(ctx, cmp.Or(log.notReplayable, log.changedSince(options)))
	return scripts, log, err
}

// drafter makes one plan.
type drafter struct {
	document
	data   *dataset.Data
	schema *schema
	taken  map[string]int64 // queries so far that insert into a column
	until  time.Time        // when the time for all queries ends
	copied string           // the second copy, to which workers and what changes data have access; empty: none yet
}

// newDrafter copies the database and reads its schema.
func newDrafter(ctx context.Context, options Options) (*drafter, error) {
	d := &drafter{document: document{options: options}, taken: map[string]int64{}}
	for _, driver := range options.drafted() {
		d.targets = append(d.targets, target{driver: driver.Name})
	}
	if len(d.targets) == 0 {
		return nil, errors.New("no driver has drafted in its driver.yaml: a drafted plan has nothing to compare")
	}
	d.name = slug(strings.TrimSuffix(filepath.Base(options.Database), filepath.Ext(options.Database)))
	d.name = cmp.Or(d.name, "own")
	var err error
	if d.file, err = relative(options.Plan, options.Database); err != nil {
		return nil, err
	}
	own, err := dataset.Header(options.Database)
	if err != nil {
		return nil, &InputError{err}
	}
	err = d.copying(ctx, func(ctx context.Context) (err error) {
		d.data, err = dataset.Cache{Dir: options.Folder}.Prepare(ctx, assay.Dataset{Workload: d.name, File: options.Database, Recorded: options.recorded, Seed: seed})
		return err
	})
	if err != nil {
		return nil, err
	}
	// The file itself may be behind its write-ahead log; the copy is not, and
	// has another journal mode.
	if d.header, err = dataset.Header(d.data.Path); err != nil {
		return nil, err
	}
	d.header["journal_mode"] = own["journal_mode"]
	if d.schema, err = open(ctx, d.data.Path); err != nil {
		return nil, &InputError{err}
	}
	return d, nil
}

// copying copies the database within the time for that.
func (d *drafter) copying(ctx context.Context, do func(context.Context) error) error {
	d.progress("copying " + d.options.Database)
	limited, cancel := context.WithTimeout(ctx, d.options.CopyTimeout)
	defer cancel()
	err := do(limited)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		return &InputError{fmt.Errorf("copying %s takes longer than %s: give a smaller database of the same kind", d.options.Database, d.options.CopyTimeout)}
	case err != nil:
		return &InputError{err}
	}
	return nil
}

// copy returns the path of the second copy, which it makes once: the first one is
// only read.
func (d *drafter) copy(ctx context.Context) (string, error) {
	if d.copied != "" {
		return d.copied, nil
	}
	path := filepath.Join(d.options.Folder, "copy.db")
	began := time.Now()
	if err := d.copying(ctx, func(ctx context.Context) error { return d.data.KeepCopy(ctx, path) }); err != nil {
		return "", err
	}
	d.until, d.copied = d.until.Add(time.Since(began)), path // it has a time of its own
	return path, nil
}

// seed is the seed of plans that name none.
const seed = 1

// relative returns the path of a file seen from a plan.
func relative(plan, file string) (string, error) {
	from, err := filepath.Abs(filepath.Dir(plan))
	if err != nil {
		return "", err
	}
	to, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	path, err := filepath.Rel(from, to)
	if err != nil {
		return to, nil // on another volume
	}
	return filepath.ToSlash(path), nil
}

// try runs the operations and leaves out those that fail.
func (d *drafter) try(ctx context.Context) error {
	if len(d.tried()) == 0 {
		return nil
	}
	b, err := d.probe()
	if err != nil {
		return err
	}
	for i, o := range d.operations {
		if o.leftOut != "" || o.toDo() {
			continue
		}
		if o.changes() {
			if _, err := d.copy(ctx); err != nil {
				return err
			}
		}
		d.progress(fmt.Sprintf("trying query %s (%d of %d)", o.name, i+1, len(d.operations)))
		limit := min(d.options.Timeout, time.Until(d.until)) / 2
		err := d.within(ctx, func(ctx context.Context) error { return b.run(ctx, o, b.cases[o.name].Operation, limit) })
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			o.leftOut, _, _ = strings.Cut(err.Error(), "; the SQL is:") // its line is named
		}
	}
	if err := d.measurable(); err != nil {
		return err
	}
	if d.copied != "" { // else nothing changes data
		if d.unenforced, err = b.foreignKeys(ctx, d.operations); err != nil {
			return err
		}
	}
	return d.tryMix(ctx)
}

// tried are the operations that are tried: those whose arguments are there.
func (d *document) tried() []*operation {
	return slices.DeleteFunc(slices.Clone(d.operations), func(o *operation) bool { return o.leftOut != "" || o.toDo() })
}

// probe tries the plan as it stands.
func (d *drafter) probe() (*probe, error) {
	p, err := d.decode()
	if err != nil {
		return nil, err
	}
	b, err := newProbe(d.data, p, d.options.Block)
	if err != nil {
		return nil, fmt.Errorf("the drafted plan is not right: %w", err)
	}
	return b, nil
}

// progress tells what comes next.
func (d *drafter) progress(what string) {
	if d.options.Progress != nil {
		d.options.Progress(what)
	}
}

// measurable says why nothing is left to measure.
func (d *drafter) measurable() error {
	var reasons []error
	for _, o := range d.operations {
		if o.leftOut == "" {
			return nil
		}
		reasons = append(reasons, fmt.Errorf("%s: query %s cannot be measured: %s", d.place(o.line), o.name, o.leftOut))
	}
	for _, s := range d.statements {
		reasons = append(reasons, fmt.Errorf("%s: %s cannot be measured: %s", d.place(s.line), s.subject(), s.leftOut))
	}
	return &InputError{errors.Join(reasons...)}
}

// place returns where a query is: one of a log has no line of its own.
func (d *drafter) place(line int) string {
	if line == 0 {
		return LogsName(d.options.Logs)
	}
	return fmt.Sprintf("%s:%d", d.options.Queries, line)
}

// subject names a script in a message.
func (s *script) subject() string {
	switch {
	case s.transaction:
		return "transaction " + s.name
	case slices.Contains([]string{"SELECT", "VALUES", "INSERT", "UPDATE", "DELETE", "REPLACE", "WITH"}, s.verb):
		return s.name
	}
	return s.verb
}

// finish sets the budget and holds the plan against what it was made of.
func (d *drafter) finish() (*Draft, error) {
	var cases []assay.Case
	if len(d.tried()) > 0 {
		p, err := d.decode()
		if err != nil {
			return nil, err
		}
		if cases, err = p.Expand(nil); err != nil {
			return nil, fmt.Errorf("the drafted plan is not right: %w", err)
		}
		const step = 30 * time.Second
		d.budget = (d.options.Estimate(d.data, cases, launches) + step).Truncate(step)
		if _, err = d.decode(); err != nil {
			return nil, err
		}
	}
	var tables []byte
	if d.options.recorded != "" {
		var err error
		if tables, err = os.ReadFile(d.options.recorded); err != nil {
			return nil, err
		}
	}
	draft := &Draft{Text: d.text(true), Recorded: tables, Cells: len(cases), Budget: d.budget, Interrupted: d.interrupted}
	for _, o := range d.operations {
		if o.leftOut == "" {
			draft.Operations = append(draft.Operations, o.name)
			if o.toDo() {
				draft.Cells += len(profiles) * len(d.targets)
				draft.ToDo = append(draft.ToDo, o.missing())
			}
			continue
		}
		draft.LeftOut = append(draft.LeftOut, fmt.Sprintf("%s, %s: %s", o.name, o.place(), o.leftOut))
	}
	if d.mix != nil {
		draft.Mix = d.mix.name
		draft.Operations = append(draft.Operations, d.mix.name)
		for _, why := range d.mix.leftOut {
			draft.LeftOut = append(draft.LeftOut, "from the mix "+d.mix.name+": "+why)
		}
	}
	draft.Decisions = d.decisions()
	if d.unmixed != "" {
		draft.LeftOut = append(draft.LeftOut, "the mix of all operations: "+d.unmixed)
	}
	if d.log != nil {
		draft.Measured, draft.Differs = append(d.log.summary(), d.log.prepares()), deviations(d.operations)
		draft.Unreplayable = d.log.notReplayable
	}
	draft.LeftOut = append(draft.LeftOut, d.unfit...)
	draft.LeftOut = append(draft.LeftOut, d.schema.unread...)
	for _, q := range d.statements {
		draft.LeftOut = append(draft.LeftOut, fmt.Sprintf("%s, %s: %s", q.subject(), q.place(), q.leftOut))
	}
	return draft, nil
}

// missing says which arguments the user must write.
func (o *operation) missing() string {
	var all []string
	for i, st := range o.steps {
		for _, n := range st.missing() {
			text := fmt.Sprintf("argument %d", n)
			if o.transaction {
				text += fmt.Sprintf(" of step %d", i+1)
			}
			all = append(all, text)
		}
	}
	return fmt.Sprintf("%s, %s: %s", o.name, o.place(), strings.Join(all, ", "))
}

// decisions returns what only the user knows and the draft assumes.
func (d *drafter) decisions() []string {
	if d.mix == nil || d.mix.measured {
		return nil
	}
	return []string{fmt.Sprintf("how often each operation comes in %s (%d %% reads, %d %% changes), and its clients (%d)", d.mix.name, readShare, writeShare, d.mix.clients)}
}
