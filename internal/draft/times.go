package draft

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	file "assay/kit/column"
)

const (
	// sections is how often a query is timed here, and into how many parts the log is
	// divided: a difference must be in all of them.
	sections = 5
	// minSection is how often a query comes in a section, for its median.
	minSection = 5
	// sectionTime bounds what a query takes in a section here.
	sectionTime = 100 * time.Millisecond
	// share is that of the log's time from which on an operation is compared with it.
	share = 0.01
	// minLine is how many queries tell what a driver takes for each statement apart from
	// what SQLite takes.
	minLine = 4
)

// timeReads times the queries of the log that change nothing, one round after the other:
// the machine is busier at one moment than at another.
func (d *drafter) timeReads(ctx context.Context) error {
	if d.log == nil {
		return nil
	}
	b, err := d.probe()
	if err != nil {
		return err
	}
	d.progress("comparing times with those of the log")
	timed := timed(d.operations)
	for range sections {
		for _, o := range timed {
			if time.Until(d.until) <= 0 {
				return nil
			}
			took, err := b.median(ctx, o)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err == nil { // else it was left out for that, or the mix will be
				o.here = append(o.here, float64(took))
			}
		}
	}
	return nil
}

// timed are the queries whose times are compared with those in the log: of those that have
// next to no part in the log's time, the writer of the log may be most of what was timed.
func timed(all []*operation) []*operation {
	total := spent(all)
	return slices.DeleteFunc(slices.Clone(all), func(o *operation) bool {
		return o.shape == nil || o.leftOut != "" || o.changes() || len(o.shape.took) < sections*minSection || float64(o.shape.nanos) < share*total
	})
}

// median is that of what an operation takes each time, in a short while.
func (b *probe) median(ctx context.Context, o *operation) (time.Duration, error) {
	op := b.cases[o.name].Operation
	trace, err := b.data.Trace(ctx, op, traceLength)
	if err != nil {
		return 0, err
	}
	found, err := b.data.Try(ctx, op, trace, meant, sectionTime)
	return found.Median, err
}

// sections are the medians of the parts of the log, in the order of time.
func (s *shape) sections() []float64 {
	all := make([]float64, sections)
	for i := range all {
		all[i] = median(s.took[i*len(s.took)/sections : (i+1)*len(s.took)/sections])
	}
	return all
}

// median is the value in the middle; pauses of a machine are in the mean.
func median[T int64 | float64](values []T) float64 {
	return float64(slices.Sorted(slices.Values(values))[len(values)/2])
}

// spent is the time of all operations in the log.
func spent(all []*operation) (total float64) {
	for _, o := range all {
		if o.shape != nil && o.leftOut == "" {
			total += float64(o.shape.nanos)
		}
	}
	return total
}

// compared are those that were timed here in all rounds.
func compared(all []*operation) []*operation {
	return slices.DeleteFunc(timed(all), func(o *operation) bool { return len(o.here) < sections })
}

// untimed says which operations have a time in the log that is not compared.
func untimed(all []*operation) []string {
	var said, changing []string
	reads := 0
	for _, o := range all {
		switch {
		case o.shape == nil || o.leftOut != "":
		case o.changes():
			changing = append(changing, o.name)
		default:
			reads++
		}
	}
	if reads > 0 && len(compared(all)) < minLine {
		said = append(said, fmt.Sprintf("times are not compared: that needs %d queries that change nothing, each with %d executions and %.0f %% of the log's time", minLine, sections*minSection, 100*share))
	}
	if changing != nil {
		said = append(said, "the times of changes are not compared with the log, because they do not wait for a disk in init: "+strings.Join(changing, ", "))
	}
	return said
}

// slower says which queries take longer or shorter than in the log, in every round here
// and in every part of the log, each by operation. The program's driver is another one than
// that of this process: it may take so many times as long, and a time more for each statement.
// Both are fitted to all queries, so that what is left is that of single ones.
func slower(all []*operation) map[*operation]float64 {
	timed := compared(all)
	var here, logged []float64
	for _, o := range timed {
		here, logged = append(here, max(1, median(o.here))), append(logged, max(1, median(o.shape.took)))
	}
	found := map[*operation]float64{}
	if len(timed) < minLine {
		return found
	}
	base, factor := line(here, logged)
	for i, o := range timed {
		at := func(took float64) float64 { return base + factor*took }
		least, most := at(slices.Min(o.here))/slices.Max(o.shape.sections()), at(slices.Max(o.here))/max(1, slices.Min(o.shape.sections()))
		if least > 1+tolerance || most < 1-tolerance {
			found[o] = at(here[i]) / logged[i]
		}
	}
	return found
}

// line is that of logged = base + factor * here from which the queries are the least away,
// in proportion: through two of them, or through one and nothing more for each statement.
func line(here, logged []float64) (base, factor float64) {
	least := math.Inf(1)
	try := func(a, b float64) {
		away := 0.0
		for i := range here {
			away += math.Abs(math.Log(max(a+b*here[i], 1e-9) / logged[i]))
		}
		if away < least {
			least, base, factor = away, a, b
		}
	}
	for i := range here {
		try(0, logged[i]/here[i])
		for j := range i {
			if b := (logged[i] - logged[j]) / (here[i] - here[j]); b > 0 && !math.IsInf(b, 0) && logged[i] >= b*here[i] {
				try(logged[i]-b*here[i], b)
			}
		}
	}
	return base, factor
}

// weigh finds how long the drawn texts and blobs are.
func (o *operation) weigh(path string) error {
	drawn, err := file.Open(path)
	if err != nil {
		return err
	}
	next := 0
	for _, st := range o.steps {
		st.bytes = make([]float64, len(st.args))
		for i := range st.bytes {
			st.bytes[i] = meanBytes(drawn, next)
			next++
		}
	}
	return drawn.Close()
}

func meanBytes(f *file.File, i int) float64 {
	if kind := f.Type(i); kind != file.Text && kind != file.Blob || f.Rows() == 0 {
		return -1
	}
	total := 0
	for row := range f.Rows() {
		if !f.Null(i, row) {
			total += len(f.Bytes(i, row))
		}
	}
	return float64(total) / float64(f.Rows())
}
