//go:build unix

package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"assay"
	"assay/internal/sys/guard"
	"assay/kit/wire"
)

// processes are the worker processes of an instance, which share its database.
func (in *instance) processes() []*instance { return slices.Concat([]*instance{in}, in.others) }

// openOthers starts the other processes of an instance, and has each open the database.
func (in *instance) openOthers(ctx context.Context, program string, settings map[string]string) error {
	for len(in.others) < in.first.Cell.Processes-1 {
		other := &instance{member: in.member, number: len(in.others) + 2, place: in.place, readings: readings{claimed: in.claimed},
			r: in.r, server: in.server, options: in.options, asked: in.asked}
		in.others = append(in.others, other)
		if err := in.of(other, other.connect(ctx, program, settings, nil)); err != nil {
			return err
		}
	}
	in.joinReadings()
	return nil
}

// of says of a failure whose it is, where an instance has several processes.
func (in *instance) of(one *instance, err error) error {
	if f, is := errors.AsType[*failure](err); is && len(in.others) > 0 {
		return &failure{f.outcome, fmt.Sprintf("process %d of %d: %s", max(1, one.number), len(in.others)+1, f.reason)}
	}
	return err
}

// each does something with every process, one after the other.
func (in *instance) each(do func(*instance) error) error {
	for _, one := range in.processes() {
		if err := do(one); err != nil {
			return in.of(one, err)
		}
	}
	return nil
}

// readSettings reads the settings of all processes.
func (in *instance) readSettings(ctx context.Context) error {
	err := in.each(func(one *instance) error { return one.readOwnSettings(ctx) })
	in.joinReadings()
	return err
}

// joinReadings takes over what the other processes read: the first setting of all that was
// not effective, and the weakest durability.
func (in *instance) joinReadings() {
	for _, other := range in.others {
		if in.applied == nil && other.applied != nil {
			in.applied = in.of(other, other.applied)
		}
		in.claimed = in.claimed.Weaker(other.claimed)
	}
}

// processShare holds what one process measured of what was asked of all.
type processShare struct {
	wire.Measured
	began, ended time.Time // between which it measured
	err          error
}

// measureTogether has all processes measure that have prepared the operation, each a part of
// the positions. They begin together, and each answer is checked against its own call.
func (in *instance) measureTogether(ctx context.Context, request wire.Measure, m *wire.Measured) error {
	taking := slices.DeleteFunc(in.processes(), func(one *instance) bool { _, has := one.prepared[request.Operation]; return !has })
	if len(in.others) == 0 || len(taking) <= 1 {
		return in.checkedMeasure(ctx, request, m)
	}
	shares := make([]processShare, len(taking))
	var caught guard.Catcher
	var ended sync.WaitGroup
	begin := make(chan struct{})
	for i, part := range split(request, in.prepared[request.Operation].unit, len(taking)) {
		ended.Go(func() {
			caught.Do(func() {
				<-begin
				shares[i].measure(ctx, taking[i], part)
			})
		})
	}
	close(begin)
	ended.Wait()
	caught.Rethrow()
	in.shares = shares
	return in.merge(taking, m)
}

// split divides a number of operations into ranges of whole transactions.
func split(request wire.Measure, unit int64, n int) []wire.Measure {
	parts := slices.Repeat([]wire.Measure{request}, n)
	units := request.Operations / unit
	for i := range parts {
		from, to := units*int64(i)/int64(n)*unit, units*int64(i+1)/int64(n)*unit
		parts[i].Start, parts[i].Operations = request.Start+from, to-from
	}
	return parts
}

// measure has one process measure its part.
func (s *processShare) measure(ctx context.Context, in *instance, part wire.Measure) {
	s.began = time.Now()
	s.ended = s.began
	if part.Operations == 0 {
		return // there are fewer transactions than processes
	}
	s.err = in.checkedMeasure(ctx, part, &s.Measured)
	s.ended = time.Now()
	s.place()
}

// place finds when in its call a process measured; where it does not say, at any time of it.
func (s *processShare) place() {
	if s.Began == 0 {
		return
	}
	took := time.Duration(s.Nanos)
	latest := max(0, s.ended.Sub(s.began)-took)
	s.began = s.began.Add(min(max(0, time.Unix(0, s.Began).Sub(s.began)), latest))
	s.ended = s.began.Add(took)
}

// span is the time from the first process's beginning to the last one's end, and shared that
// in which all of them measured.
func span(shares []processShare) (whole, shared time.Duration) {
	var began, ended []time.Time
	for _, s := range shares {
		began, ended = append(began, s.began), append(ended, s.ended)
	}
	slices.SortFunc(began, time.Time.Compare)
	slices.SortFunc(ended, time.Time.Compare)
	last := len(shares) - 1
	return ended[last].Sub(began[0]), max(0, ended[0].Sub(began[last]))
}

// merge adds up what the processes measured, over the time from the first one's beginning to
// the last one's end.
func (in *instance) merge(taking []*instance, m *wire.Measured) error {
	var sum tally
	var failed error
	var digests []string
	peak := int64(0)
	for i, s := range in.shares {
		err := in.of(taking[i], s.err)
		if err != nil && !errors.As(err, new(*failure)) {
			return err
		}
		failed = joinFailures(failed, err)
		if s.Error != "" {
			s.Error = fmt.Sprintf("process %d of %d: %s", i+1, len(taking), s.Error)
		}
		sum.add(s.Measured)
		digests, peak = append(digests, s.Digests...), peak+s.Counters.Peak
	}
	sum.join()
	*m = sum.total
	whole, _ := span(in.shares)
	m.Nanos, m.Digests, m.Counters.Peak = int64(whole), digests, peak
	return failed
}

// minShared is the part of the time in which all processes measure, below which that is
// said.
const minShared = 0.8

// differences says how the processes differed in the block that was measured last.
func (in *instance) differences() []assay.Warning {
	if len(in.shares) == 0 {
		return nil
	}
	var words []string
	each := func(what string, of func(processShare) int64, text func(int64) string) string {
		var texts []string
		for _, s := range in.shares {
			texts = append(texts, text(of(s)))
		}
		return what + " " + strings.Join(texts, ", ")
	}
	if whole, shared := span(in.shares); float64(shared) < minShared*float64(whole) {
		words = append(words, fmt.Sprintf("all worked at the same time for %.0f %% of it, ", 100*float64(shared)/float64(whole))+
			each("each for", func(s processShare) int64 { return s.Nanos }, func(n int64) string { return time.Duration(n).Round(100 * time.Microsecond).String() }))
	}
	for _, count := range []struct {
		what string
		of   func(processShare) int64
	}{
		{"errors", func(s processShare) int64 { return s.Errors }},
		{"busy answers", func(s processShare) int64 { return s.Busy }},
	} {
		least := slices.MinFunc(in.shares, func(a, b processShare) int { return cmp.Compare(count.of(a), count.of(b)) })
		most := slices.MaxFunc(in.shares, func(a, b processShare) int { return cmp.Compare(count.of(a), count.of(b)) })
		if 2*count.of(least) < count.of(most) {
			words = append(words, each(count.what, count.of, func(n int64) string { return fmt.Sprint(n) }))
		}
	}
	if len(words) == 0 {
		return nil
	}
	return []assay.Warning{{Code: "processes-differ",
		Evidence: fmt.Sprintf("of %d processes, ", len(in.shares)) + strings.Join(words, "; "),
		Advice:   "the figure is that of all, from the first one's beginning to the last one's end: raise count, or look at what one process keeps from the others"}}
}
