package draft

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// mix holds what users of an application feel: several clients that read and
// write at the same time.
type mix struct {
	name          string
	reads, writes []*operation
	clients       int
	measured      bool     // a log has the weights
	leftOut       []string // operations that are not in it, with the reason
	check         string
	counts        counts
}

// operations returns the operations of the mix; whole says that also those that the user must
// complete.
func (m *mix) operations(whole bool) []*operation {
	return slices.DeleteFunc(slices.Concat(m.reads, m.writes), func(o *operation) bool { return !whole && o.toDo() })
}

// The share of each kind of operation in a mix.
const (
	readShare  = 90
	writeShare = 10
)

// measuredShares is what the weights of a log sum up to: so many that a log has few
// operations that are rarer than one of them.
const measuredShares = 1_000_000

// newMix takes the operations that can be mixed; nil where there is nothing to
// mix, with the reason where operations do not fit.
func newMix(all []*operation, log *logged) (made *mix, lacks string) {
	m := &mix{name: "app", clients: 8}
	if log != nil {
		m.clients, m.measured = log.clients, true
	}
	for slices.ContainsFunc(all, func(o *operation) bool { return o.name == m.name }) {
		m.name += "-mix"
	}
	var changed []string
	for _, o := range all {
		if tables := o.targets(); len(tables) > 0 && m.unfit(o) == "" {
			m.writes = append(m.writes, o)
			changed = unique(append(changed, tables...))
		}
	}
	unfit := map[bool][]string{} // by whether they change data
	for _, o := range all {
		if why := m.unfit(o); why != "" {
			m.leftOut = append(m.leftOut, o.name+": "+why)
			unfit[o.changes()] = append(unfit[o.changes()], o.name+": "+why)
			continue
		}
		o.vary(changed, m.measured)
		if !o.changes() {
			m.reads = append(m.reads, o)
		}
	}
	if !m.measured && (len(m.reads) == 0 || len(m.writes) == 0) || len(m.reads)+len(m.writes) == 0 {
		switch { // nothing is wrong where there are only reads, or only changes
		case len(m.writes) > 0:
			lacks = strings.Join(unfit[false], "; ")
		case len(m.reads) > 0:
			lacks = strings.Join(unfit[true], "; ")
		case len(unfit[false]) > 0 && len(unfit[true]) > 0:
			lacks = strings.Join(m.leftOut, "; ")
		}
		return nil, lacks
	}
	m.counts = m.lengths()
	if len(changed) == 0 {
		return m, ""
	}
	counts := make([]string, len(changed))
	for i, name := range changed {
		counts[i] = "(SELECT count(*) FROM " + plain(name) + ")"
	}
	m.check = "SELECT " + strings.Join(counts, ", ")
	return m, ""
}

// unfit says why an operation is not mixed with others that change tables.
func (m *mix) unfit(o *operation) string {
	switch {
	case m.measured && o.alike != "":
		return fmt.Sprintf("the log cannot tell it from %s, which stands for both", o.alike)
	case m.measured && o.shape == nil:
		return "it is not in the log"
	case m.measured:
		return "" // the application does it too
	case slices.ContainsFunc(o.queries, func(q *query) bool { return q.verb == "DELETE" }):
		return "the others may need what it deletes"
	case o.each > mixedTime:
		return fmt.Sprintf("it takes %s, and would be most of the mix", o.each.Round(time.Millisecond))
	}
	return ""
}

// vary leaves out the rows of statements whose number depends on what other
// operations of the mix change, or delete. The answers are compared all the same.
func (o *operation) vary(changed []string, deleted bool) {
	for _, st := range o.steps {
		depends := st.changes()
		for _, ref := range st.drawer.schema.read(st.drawer.refs) {
			if t := st.drawer.schema.table(ref.table); t != nil && slices.Contains(changed, t.name) {
				depends = true
			}
		}
		if st.rows >= 0 && (!st.sure || deleted && st.verb != "INSERT") && depends {
			st.rows = -1
		}
	}
}

func (o *operation) targets() (names []string) {
	for _, st := range o.steps {
		if st.changes() && st.drawer.target != nil {
			names = append(names, st.drawer.target.name)
		}
	}
	return names
}

// mixedTime is how long an operation of a mix takes at most: one that takes longer
// would be all that the mix measures.
const mixedTime = 50 * time.Millisecond

// weight is the share of an operation in the mix.
func (m *mix) weight(o *operation) int {
	if !m.measured { // each kind has its share, whatever its number
		read, write := readShare*max(1, len(m.writes)), writeShare*max(1, len(m.reads))
		common := gcd(read, write)
		if o.changes() {
			return write / common
		}
		return read / common
	}
	total := 0
	for _, each := range m.operations(true) {
		total += each.shape.all()
	}
	return max(1, (o.shape.all()*measuredShares+total/2)/total)
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// weights is the mix as plans write it; whole says that operations belong to it which are not
// tried yet.
func (m *mix) weights(whole bool) string {
	var parts []string
	for _, o := range m.operations(whole) {
		parts = append(parts, fmt.Sprintf("%s: %d", scalar(o.name), m.weight(o)))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// tryMix adds a mix where it can be played.
func (d *drafter) tryMix(ctx context.Context) error {
	var kept []*operation
	for _, o := range d.operations {
		if o.leftOut == "" {
			kept = append(kept, o)
		}
	}
	if d.mix, d.unmixed = newMix(kept, d.log); d.mix == nil {
		return nil
	}
	if len(d.mix.operations(false)) == 0 {
		return nil
	}
	d.progress("trying all of them together")
	late, err := d.playMix(ctx)
	for limit := int64(longest); late && limit >= fewest && err == nil && ctx.Err() == nil; limit /= 10 {
		d.mix.counts.bound(limit)
		late, err = d.playMix(ctx)
	}
	if d.unmixed != "" {
		d.mix = nil
	}
	return errors.Join(err, ctx.Err())
}

// fewest are the operations of the smallest block of a mix.
const fewest = 50

// playMix plays the mix as the plan has it, and notes why it cannot be measured: late,
// that it took too long.
func (d *drafter) playMix(ctx context.Context) (late bool, err error) {
	b, err := d.probe()
	if err != nil {
		return false, err
	}
	d.unmixed = ""
	if err = d.within(ctx, func(ctx context.Context) error { return b.play(ctx, b.cases[d.mix.name].Operation) }); err != nil {
		d.unmixed = err.Error()
	}
	_, late = errors.AsType[lateError](err)
	return late, nil
}

const (
	// longest and shortest are how many operations the block of a mix has at most and at least.
	longest, shortest = 10_000, 5000
	// syncedChanges is how many of them change data, where commits wait for the disk.
	syncedChanges = 1000
	// longestBlock is how long a block takes in this process, where it is not the shortest.
	longestBlock = 5 * time.Second
)

// lengths are the operations of a block, by profile. Blocks are long: while a write-ahead log
// grows, a commit takes several times as long, since the file system notes the new size, too. An
// application that runs for days overwrites a log that is there.
func (m *mix) lengths() counts {
	total, changes, took, known := 0, 0, time.Duration(0), true
	for _, o := range m.operations(true) {
		known = known && !o.toDo()
		weight := m.weight(o)
		total += weight
		took += time.Duration(weight) * o.each
		if o.changes() {
			changes += weight
		}
	}
	n, synced := int64(longest), int64(longest)
	switch {
	case !known: // it may be slow
		n = shortest
	case took > 0:
		n = max(shortest, min(n, thousands(int64(longestBlock*time.Duration(total)/took))))
	}
	if changes > 0 {
		synced = max(syncedChanges, thousands(int64(syncedChanges*total/changes)))
	}
	synced = min(synced, n)
	return counts{"current": synced, "web": n, "durable": synced}
}

// thousands rounds a number.
func thousands(n int64) int64 { return (n + 500) / 1000 * 1000 }
