package draft

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/internal/dataset/recording"
	"assay/internal/draft/recorded"
)

// logged holds what a log of a program's traffic shows; docs/traffic.md is its
// format.
type logged struct {
	shapes []*shape // by how often they come
	// processes have a log each.
	processes     int
	clients       int     // operations under way at the same time, 95 % of the time at most, for each process
	rate          float64 // operations a second, over all
	peak          int     // and in the busiest second
	dropped       int64   // lines that the writer left out
	noLastLine    bool    // a log has no last line
	rolledBack    int     // transactions that were rolled back
	withoutEnd    int     // transactions whose end is not in the log
	nested        int     // savepoints within transactions
	count         int     // operations
	nanos         int64   // of all of them
	began         time.Time
	changes       bool   // data
	notReplayable string // why the log cannot be replayed; empty: it can
	// rest are the operations of shapes that are too many, and restNanos is what they took.
	rest      int
	restNanos int64
}

// shape is an operation as the log shows it: a statement, or those of a transaction
// of which each stands for all of its kind that follow each other.
type shape struct {
	ids   []string
	texts []string // without literals
	sql   []string // with those that were the same each time
	count int
	nanos int64 // of all, also of others
	// A shape can stand for others, whose lists are longer or shorter.
	others  int // operations of those
	lengths int // how many shapes those are
	steps   []*loggedStep
	// prepared is how often its statements were prepared for one execution (each), or not by
	// the program (never); all others were prepared before, or the log does not show it.
	prepared map[string]int
	executed int               // of its statements
	parts    []*recording.Part // that it is in a recording
	view     string            // of the recording, with the arguments of its one statement; empty: there is none
}

// loggedStep is a statement of a shape.
type loggedStep struct {
	times         int64
	counted, rows int64 // of those whose rows the log has
}

// minConstant is how often a quoted text must occur, always the same, to be taken as part of the
// program and kept in a plan. A rarer one may be a value.
const minConstant = 10

// logLine is a statement of a log, or what begins or ends a transaction.
type logLine struct {
	*recorded.Line
	text *loggedText // nil for what begins, ends or marks a transaction
	args []any       // that were bound
}

// maxStatements bounds the statements of one transaction that are kept.
const maxStatements = 10_000

// logReader collects the lines of a log.
type logReader struct {
	known  map[string]*loggedText     // by their names in the log
	first  map[string]*recorded.Text  // of each id
	open   map[int64]*openTransaction // transactions, by connection
	shapes map[string]*shape
	began  time.Time // of the first log
	offset int64     // of this log, in ns behind the first
	ended  bool      // its last line was there
	all    []moment  // of all logs
	t      logged
	out    *recording.Writer
	ctx    context.Context
}

// loggedText is a statement as the program wrote it.
type loggedText struct {
	*recorded.Text
	query
	left string // why it cannot be done again; empty: it can
	idle bool   // it changes and answers nothing that a replay has to do again
}

// openTransaction is a transaction under way.
type openTransaction struct {
	at    int64
	ready int64 // when it had begun
	tx    int64
	lines []logLine
}

// moment says when an operation begins (+1) or ends (-1).
type moment struct {
	at    int64
	delta int
}

// recordLogs reads the logs of all processes of a program, one each, and writes what they have into
// a recording. Statements that failed are left out; a last line that was cut off is, too.
func recordLogs(ctx context.Context, out *recording.Writer, logs ...Log) (*logged, error) {
	r := &logReader{first: map[string]*recorded.Text{}, shapes: map[string]*shape{}, out: out, ctx: ctx}
	if len(logs) > 1 {
		r.cannotReplay("it is of several processes, and a replay is of one")
	}
	for _, l := range logs {
		if err := r.process(l.Data); err != nil {
			return nil, fmt.Errorf("%s: %w", l.Name, err)
		}
	}
	if len(r.shapes) == 0 {
		return nil, fmt.Errorf("%s: there is no statement in it that succeeded", LogsName(logs))
	}
	return r.finish(), nil
}

// process reads the log of one process.
func (r *logReader) process(data []byte) error {
	r.known, r.open, r.ended = map[string]*loggedText{}, map[int64]*openTransaction{}, false
	before := len(r.all)
	if err := recorded.Lines(data, r.line); err != nil {
		return err
	}
	r.t.withoutEnd += len(r.open)
	r.t.noLastLine = r.t.noLastLine || !r.ended
	if len(r.all) > before { // else it did nothing
		r.t.processes++
	}
	return nil
}

// begins notes when a log began, beside the others.
func (r *logReader) begins(text string) {
	began, err := time.Parse(time.RFC3339, text)
	if err != nil {
		r.offset = 0
		return
	}
	if r.began.IsZero() {
		r.began = began
	}
	r.offset = began.Sub(r.began).Nanoseconds()
}

func (r *logReader) line(line *recorded.Line) error {
	switch {
	case line.Traffic != 0:
		r.begins(line.Began)
		return nil
	case line.ID != "":
		t := recorded.TextOf(line.SQL)
		r.known[line.ID] = newLoggedText(t, line.SQL)
		if first := r.first[t.ID]; first != nil {
			first.Share(t)
		} else {
			r.first[t.ID] = t
		}
		return nil
	case line.S == "":
		if line.Dropped != nil {
			r.t.dropped, r.ended = r.t.dropped+*line.Dropped, true
		}
		return nil
	}
	l := logLine{Line: line}
	if t := r.known[line.S]; t != nil {
		l.S, l.text = t.ID, t
		values, ok := t.Values(line)
		if line.Err == "" && (!ok || len(values) != len(t.args)) && !t.idle {
			r.cannotReplay("it lacks values of a statement: record it anew")
		}
		for _, v := range values {
			l.args = append(l.args, v.Of)
		}
	}
	r.leave(l)
	open := r.open[l.Conn]
	switch l.S {
	case "begin":
		if l.Err == "" {
			r.open[l.Conn] = &openTransaction{at: l.At, ready: l.At + l.NS, tx: l.Tx}
		}
	case "commit":
		if l.Err != "" {
			return nil // the program may try again
		}
		delete(r.open, l.Conn)
		if open != nil {
			return r.add(open.at, open.ready, l.At+l.NS, open.lines)
		}
	case "rollback":
		r.t.rolledBack++
		delete(r.open, l.Conn)
	case "savepoint", "release", "rollback to":
		if l.S == "savepoint" {
			r.t.nested++
		}
		if open != nil && l.Err == "" {
			open.lines = append(open.lines, l)
		}
	default:
		return r.statement(l)
	}
	return nil
}

// leave ends a transaction that a later line shows its connection has left: its end was dropped
// or failed.
func (r *logReader) leave(l logLine) {
	open := r.open[l.Conn]
	if open == nil || l.At < open.at {
		return
	}
	if open.tx != l.Tx || l.S == "begin" && l.Err == "" {
		r.t.withoutEnd++
		r.cannotReplay("it does not have the end of a transaction: record it anew")
		delete(r.open, l.Conn)
	}
}

func (r *logReader) statement(l logLine) error {
	if l.text == nil {
		return fmt.Errorf("the text of statement %q is not in the lines before", l.S)
	}
	open := r.open[l.Conn]
	switch {
	case l.Err != "", l.text.verb == "VACUUM": // INTO is how a recorder keeps the database
	case open == nil || open.tx != l.Tx:
		return r.add(l.At, l.At, l.At+l.NS, []logLine{l})
	case len(open.lines) < maxStatements:
		open.lines = append(open.lines, l)
	default:
		r.cannotReplay(fmt.Sprintf("a transaction has more than %d statements", maxStatements))
	}
	return nil
}

// cannotReplay notes why the log cannot be replayed.
func (r *logReader) cannotReplay(why string) { r.t.notReplayable = cmp.Or(r.t.notReplayable, why) }

// add counts an operation, and records it: it saw nothing before it was ready.
func (r *logReader) add(from, ready, to int64, all []logLine) error {
	part, err := r.record(recording.Unit{Asked: from + r.offset, Began: ready + r.offset, Ended: to + r.offset}, all)
	lines := slices.DeleteFunc(all, func(l logLine) bool { return l.text == nil })
	if err != nil || len(lines) == 0 {
		return err
	}
	var ids []string
	for _, l := range lines {
		if len(ids) == 0 || ids[len(ids)-1] != l.S {
			ids = append(ids, l.S)
		}
	}
	key := strings.Join(ids, " ")
	s := r.shapes[key]
	if s == nil {
		s = &shape{ids: ids, prepared: map[string]int{}}
		for _, id := range ids {
			s.texts, s.steps = append(s.texts, r.first[id].Template), append(s.steps, &loggedStep{})
		}
		r.shapes[key] = s
	}
	s.count++
	s.nanos += to - from
	r.all = append(r.all, moment{from + r.offset, 1}, moment{to + r.offset, -1})
	if part != nil && !slices.Contains(s.parts, part) {
		s.parts = append(s.parts, part)
	}
	at := 0
	for i, l := range lines {
		if i > 0 && lines[i-1].S != l.S {
			at++
		}
		s.executed++
		s.prepared[l.Prep]++
		s.steps[at].take(l)
	}
	return nil
}

func (s *loggedStep) take(l logLine) {
	s.times++
	if l.Rows != nil {
		s.counted++
		s.rows += *l.Rows
	}
}

// finish sorts the shapes and sums up when they came.
func (r *logReader) finish() *logged {
	r.t.began = r.began
	switch {
	case r.t.dropped > 0:
		r.cannotReplay(fmt.Sprintf("its writer dropped %d lines: let the log be larger", r.t.dropped))
	case r.t.noLastLine:
		r.cannotReplay("its last line is missing, so that nobody knows whether others are: close the recorder at the program's end")
	}
	for _, s := range r.shapes {
		for _, id := range s.ids {
			s.sql = append(s.sql, r.first[id].Written(s.count >= minConstant))
		}
		r.t.shapes = append(r.t.shapes, s)
	}
	slices.SortFunc(r.t.shapes, func(a, b *shape) int {
		return cmp.Or(b.count-a.count, strings.Compare(strings.Join(a.ids, " "), strings.Join(b.ids, " ")))
	})
	r.t.shapes = mergeLists(r.t.shapes)
	for _, s := range r.t.shapes {
		r.t.count += s.all()
		r.t.nanos += s.nanos
	}
	r.arrivals()
	return &r.t
}

// inOrder sorts by time; at equal times, ends come before begins.
func inOrder(a, b moment) int { return cmp.Or(cmp.Compare(a.at, b.at), a.delta-b.delta) }

// atOnce returns how many operations are under way at the same time, 95 % of the time at most.
func atOnce(busy []moment) int {
	slices.SortFunc(busy, inOrder)
	spent := map[int]int64{}
	under, total, most := 0, int64(0), 0
	for i, m := range busy {
		if i > 0 && under > 0 {
			spent[under] += m.at - busy[i-1].at
			total += m.at - busy[i-1].at
		}
		under += m.delta
		most = max(most, under)
	}
	n := 0
	for below := int64(0); n < most && float64(below) < 0.95*float64(total); below += spent[n] {
		n++
	}
	return max(1, n)
}

// arrivals finds how many operations come, and how many are under way at the same time.
func (r *logReader) arrivals() {
	r.t.clients = (atOnce(r.all) + r.t.processes - 1) / r.t.processes
	seconds := map[int64]int{}
	for _, m := range r.all {
		if m.delta > 0 {
			seconds[(m.at-r.all[0].at)/1e9]++
		}
	}
	for _, n := range seconds {
		r.t.peak = max(r.t.peak, n)
	}
	if wide := r.all[len(r.all)-1].at - r.all[0].at; wide > 0 {
		r.t.rate = float64(len(r.all)/2) * 1e9 / float64(wide)
	}
}

// summary says what the log shows of the traffic.
func (t *logged) summary() []string {
	each := ""
	if t.processes > 1 {
		each = fmt.Sprintf("in each of %d processes ", t.processes)
	}
	all := []string{fmt.Sprintf("%d operations of %d kinds, %s a second, %d in the busiest second; %sup to %d at once 95 %% of the time",
		t.count, len(t.shapes), perSecond(t.rate), t.peak, each, t.clients)}
	for _, each := range []struct {
		n    int64
		what string
	}{{int64(t.rolledBack), "transactions were rolled back, and are left out"},
		{int64(t.withoutEnd), "transactions have no COMMIT or ROLLBACK in the log that succeeded, and are left out"}, {t.dropped, "lines were dropped by the writer"},
		{int64(t.nested), "savepoints were set in transactions; a log has no names of them, so the plan has only the statements in them"},
		{int64(t.rest), fmt.Sprintf("operations are left out, which took %.0f %% of the log's time: a plan has the %d kinds with the largest shares", 100*float64(t.restNanos)/float64(max(1, t.nanos)), maxShapes)}} {
		if each.n > 0 {
			all = append(all, fmt.Sprintf("%d %s", each.n, each.what))
		}
	}
	if t.noLastLine {
		all = append(all, "the last line of a log is missing, which says how many lines were dropped: close the recorder before you copy the file")
	}
	return all
}

// perSecond writes a rate without an exponent.
func perSecond(rate float64) string {
	if rate >= 1000 {
		return strconv.FormatFloat(rate, 'f', 0, 64)
	}
	return strconv.FormatFloat(rate, 'g', 3, 64)
}

// RecordedName is the file of recorded arguments that belongs to a plan.
func RecordedName(plan string) string { return strings.TrimSuffix(plan, ".yaml") + ".recorded.db" }

// keepArguments makes views of the arguments that a log has of operations which only read. Those
// of changes would meet rows that are there already.
func keepArguments(ctx context.Context, out *recording.Writer, scripts []*script) (err error) {
	for _, s := range scripts {
		if s.shape == nil || s.leftOut != "" || s.transaction || len(s.queries) != 1 || s.queries[0].changes() || len(s.shape.parts) != 1 {
			continue
		}
		part := s.shape.parts[0]
		if args := part.Args(); part.Units >= minSample && args > 0 && args == len(s.queries[0].args) {
			if s.shape.view, err = out.Sample(ctx, part); err != nil {
				return err
			}
		}
	}
	return nil
}

// minSample is the minimum number of argument rows that a log must have for an operation to take
// its arguments from it.
const minSample = 10
