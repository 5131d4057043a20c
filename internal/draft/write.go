package draft

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"assay/internal/sys/format"
)

// document holds all that a drafted plan says.
type document struct {
	options    Options
	name       string
	file       string            // the database, relative to the plan
	header     map[string]string // what the file says of itself
	unenforced string            // why foreign keys are not enforced; empty: they are
	operations []*operation      // in the order of the queries, also those left out
	statements []*script         // left out before they were looked at
	log        *logged           // nil: there is none
	targets    []target          // what is measured
	unfit      []string          // drivers that are left out, with the reason
	// unasked are drivers of which it is not known whether they can run the operations.
	unasked     []string
	interrupted bool
	mix         *mix
	unmixed     string // why there is no mix, where it was tried
	budget      time.Duration
}

// text is the plan; whole says that operations belong to it whose arguments the user must write.
func (d *document) text(whole bool) string {
	w := &writer{}
	d.writeTop(w)
	d.writeProfiles(w)
	w.line(0, "\nworkload:")
	w.line(2, "file: %s # it is copied, and never changed", scalar(d.file))
	if d.options.recorded != "" {
		w.line(2, "recorded: %s # the values that the log has; keep it as private as the database", scalar(filepath.Base(RecordedName(d.options.Plan))))
	}
	w.line(0, "\noperations:")
	if d.log == nil {
		w.comment(2, "%s", d.assumed())
	}
	for _, o := range d.operations {
		if whole || !o.toDo() {
			d.writeOperation(w, o)
		}
	}
	switch {
	case d.mix != nil:
		d.writeMix(w, whole)
	case d.unmixed != "":
		w.line(0, "")
		w.comment(2, "A mix of them is left out: %s", d.unmixed)
	}
	d.writeLeftOut(w)
	return w.String()
}

func (d *document) writeTop(w *writer) {
	w.comment(0, "The queries of %s on %s, drafted by assay init: write what stands as TODO, and look at args, weights, clients and profiles. Then:\n  %s",
		d.inputs(), filepath.Base(d.options.Database), strings.Join(d.options.Next, "\n  "))
	w.line(0, "name: %s", scalar(d.name))
	if d.budget > 0 {
		without := ""
		if slices.ContainsFunc(d.operations, func(o *operation) bool { return o.leftOut == "" && o.toDo() }) {
			without = ", nor what stands as TODO: once that is written, plan check says what all takes"
		}
		w.line(0, "budget: %s # about %d launches of each cell; builds are not counted%s", brief(d.budget), launches, without)
	}
	d.writeDrivers(w)
}

// brief writes a duration without parts that are zero.
func brief(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// profiles holds the profiles of a drafted plan.
var profiles = []string{"current", "web", "durable"}

func (d *document) writeProfiles(w *writer) {
	journal, hint := "wal", ""
	if d.header["journal_mode"] != "wal" {
		journal, hint = "delete", "; where your program sets truncate or persist, write that"
	}
	w.line(0, "profiles:")
	w.comment(2, "What the file says of itself, and else what the driver has%s.", hint)
	w.line(2, "current: {journal_mode: %s}", journal)
	w.comment(2, "What most guides advise for web applications: a power cut can lose the newest commits. And the same with every commit on the disk.")
	keys := ""
	if d.unenforced == "" {
		keys = ", foreign_keys: on"
	}
	for i, synchronous := range []string{"normal", "full"} {
		w.line(2, "%s: {journal_mode: wal, synchronous: %s, busy_timeout: 5s, cache_size: -65536%s}", profiles[1+i], synchronous, keys)
	}
	if d.unenforced != "" {
		w.comment(2, "foreign_keys: on is left out: %s", d.unenforced)
	}
}

func (d *document) writeOperation(w *writer, o *operation) {
	w.line(0, "")
	if o.leftOut != "" {
		w.comment(2, "Left out: %s", o.leftOut)
		w.prefix = "  #"
		defer func() { w.prefix = "" }()
	}
	w.comment(2, "%s", d.origin(o))
	for _, note := range o.allNotes() {
		w.comment(2, "%s", note)
	}
	w.line(2, "%s:", scalar(o.name))
	if !o.transaction {
		for _, st := range o.steps {
			writeStatement(w, 4, "", st)
		}
	} else {
		w.line(4, "steps:")
		for _, st := range o.steps {
			writeStatement(w, 6, "- ", st)
		}
		w.line(4, "transaction: 1")
	}
	writePolicy(w, policyOf(o))
	if o.counts != nil {
		writeCounts(w, o.counts)
	}
	writeCheck(w, o.check)
}

func (d *document) origin(o *operation) string {
	from := "From the log"
	if o.line > 0 {
		from = fmt.Sprintf("%s, line %d", filepath.Base(d.options.Queries), o.line)
	}
	switch {
	case o.shape != nil:
		return fmt.Sprintf("%s, %d times in %s", from, o.shape.all(), filepath.Base(LogsName(d.options.Logs)))
	case d.log != nil:
		return from + ", not in the log"
	}
	return from
}

// allNotes returns what a reader should know of the operation and its statements.
func (o *operation) allNotes() []string {
	all := slices.Clone(o.notes)
	for _, q := range o.queries {
		all = append(all, q.notes...)
	}
	return unique(all)
}

// writeStatement writes a statement with its arguments; mark begins it where it is
// one of several steps.
func writeStatement(w *writer, indent int, mark string, s *statement) {
	w.line(indent, "%ssql: %s", mark, sqlText(s.sql, strings.Repeat(" ", 2+len(mark))))
	indent += len(mark)
	if s.arguments != "" {
		w.line(indent, "args: %s", sqlText(s.arguments, "  "))
	}
	if s.drawer != nil && s.drawer.draw != "" {
		w.line(indent, "draw: %s", s.drawer.draw)
	}
	if s.rows >= 0 {
		w.line(indent, "rows: %d", s.rows)
	}
}

// writeCounts writes how many operations a block has: more where a commit does
// not wait for the disk, so that blocks last alike.
func writeCounts(w *writer, counts counts) {
	if counts["web"] == counts["current"] {
		w.line(4, "count: %d", counts["web"])
		return
	}
	w.line(4, "count: {current: %d, web: %d, durable: %d}", counts["current"], counts["web"], counts["durable"])
}

func writeCheck(w *writer, check string) {
	if check != "" {
		w.line(4, "check: %s", sqlText(check, "  "))
	}
}

func (d *document) writeMix(w *writer, whole bool) {
	w.line(0, "")
	if d.log == nil {
		w.comment(2, "What users of an application feel: eight clients, one connection writing. The weights are assumed: write yours.")
	} else {
		w.comment(2, "What users of the application feel, with the weights, and the number of processes and clients, of the log.")
		for _, text := range slices.Concat(d.log.summary(), deviations(d.operations)) {
			w.comment(2, "  %s", text)
		}
	}
	for _, why := range d.mix.leftOut {
		w.comment(2, "Not in it: %s", why)
	}
	w.line(2, "%s:", scalar(d.mix.name))
	w.line(4, "mix: %s", d.mix.weights(whole))
	if d.log != nil && d.log.processes > 1 {
		w.line(4, "processes: %d", d.log.processes)
	}
	w.line(4, "clients: %d\nbusy: retry", d.mix.clients)
	writePolicy(w, policyOf(d.mix.operations(true)...))
	writeCounts(w, d.mix.counts)
	if whole || slices.ContainsFunc(d.mix.writes, func(o *operation) bool { return !o.toDo() }) {
		writeCheck(w, d.mix.check)
	}
}

// writeLeftOut lists the statements that are no operations.
func (d *document) writeLeftOut(w *writer) {
	if len(d.statements) == 0 {
		return
	}
	w.line(0, "")
	w.comment(0, "Left out of %s:", d.inputs())
	for _, q := range d.statements {
		w.comment(0, "  %s, %s: %s", q.place(), cmp.Or(q.verb, q.name), q.leftOut)
	}
}

// inputs names what the plan was made of.
func (d *document) inputs() string {
	var names []string
	for _, name := range []string{d.options.Queries, LogsName(d.options.Logs)} {
		if name != "" {
			names = append(names, filepath.Base(name))
		}
	}
	return strings.Join(names, " and ")
}

// plainScalar is a text that YAML takes for itself; words that it takes for
// something else are in special.
var (
	plainScalar = regexp.MustCompile(`^(/|(\.\./)+)?[A-Za-z][A-Za-z0-9_./-]*$`)
	special     = regexp.MustCompile(`(?i)^(y|yes|n|no|true|false|on|off|null)$`)
)

// scalar writes a text as a YAML value.
func scalar(text string) string {
	if plainScalar.MatchString(text) && !special.MatchString(text) {
		return text
	}
	return format.Quote(text)
}

// oneLine is SQL that YAML takes for itself.
var oneLine = regexp.MustCompile(`^[A-Za-z][ -~]*[!-9;-~]$`)

// sqlText writes SQL as it is, in lines of its own where YAML needs them and can keep them.
func sqlText(sql, indent string) string {
	if oneLine.MatchString(sql) && !strings.Contains(sql, ": ") && !strings.Contains(sql, " #") {
		return sql
	}
	for _, r := range sql {
		if r != '\n' && !unicode.IsPrint(r) {
			return format.Quote(sql)
		}
	}
	lines := strings.Split(sql, "\n")
	for i, line := range lines {
		if line != strings.TrimRight(line, " ") {
			return format.Quote(sql)
		}
		if line != "" {
			lines[i] = indent + line
		}
	}
	return "|-\n" + strings.Join(lines, "\n")
}

// writer collects the lines of a plan.
type writer struct {
	strings.Builder
	prefix string // of each line: a mark that makes a comment of it
}

func (w *writer) line(indent int, format string, args ...any) {
	text := strings.Split(fmt.Sprintf(format, args...), "\n")
	for _, line := range text {
		w.WriteString(strings.TrimRight(w.prefix+strings.Repeat(" ", indent)+line, " ") + "\n")
	}
}

// comment writes a text as a comment, in lines of up to 80 letters.
func (w *writer) comment(indent int, format string, args ...any) {
	const width = 80
	start := strings.Repeat(" ", indent) + "#"
	for paragraph := range strings.Lines(fmt.Sprintf(format, args...)) {
		depth := len(paragraph) - len(strings.TrimLeft(paragraph, " "))
		line := start + strings.Repeat(" ", depth)
		for i, word := range strings.Fields(clean(paragraph)) {
			if i > 0 && len(line)+1+len(word) > width {
				w.line(0, "%s", line)
				line = start + strings.Repeat(" ", depth)
			}
			line += " " + word
		}
		w.line(0, "%s", line)
	}
}

// clean replaces what cannot stand in a comment.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
}
