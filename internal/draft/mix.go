package draft

import (
	"fmt"
	"slices"
	"strings"
)

// mix is what users of an application feel: several clients that read and
// write at the same time.
type mix struct {
	name          string
	reads, writes []*operation
	leftOut       []string // operations that are not in it, with the reason
	check         string
}

// The share of each kind of operation in a mix.
const (
	readShare  = 90
	writeShare = 10
)

// newMix takes the operations that can be mixed; nil where there is nothing to
// mix.
func newMix(all []*operation) *mix {
	m := &mix{name: "app"}
	for slices.ContainsFunc(all, func(o *operation) bool { return o.name == m.name }) {
		m.name += "-mix"
	}
	var changed []string
	for _, o := range all {
		if o.changes() && o.guess.target != nil && m.unfit(o, nil) == "" {
			m.writes = append(m.writes, o)
			if name := o.guess.target.name; !slices.Contains(changed, name) {
				changed = append(changed, name)
			}
		}
	}
	for _, o := range all {
		why := m.unfit(o, changed)
		if why != "" {
			m.leftOut = append(m.leftOut, o.name+": "+why)
		} else if !o.changes() {
			m.reads = append(m.reads, o)
		}
	}
	if len(m.reads) == 0 || len(m.writes) == 0 {
		return nil
	}
	counts := make([]string, len(changed))
	for i, name := range changed {
		counts[i] = "(SELECT count(*) FROM " + plain(name) + ")"
	}
	m.check = "SELECT " + strings.Join(counts, ", ")
	return m
}

// unfit says why an operation is not mixed with others that change tables.
func (m *mix) unfit(o *operation, changed []string) string {
	switch {
	case o.verb == "DELETE":
		return "the others may need what it deletes"
	case o.scanned > 0:
		return "it reads a whole table"
	case o.rows < 0 || o.sure:
		return ""
	case o.changes():
		return "how many rows it changes depends on the others"
	}
	for _, ref := range o.guess.schema.read(o.guess.refs) {
		if t := o.guess.schema.table(ref.table); t != nil && slices.Contains(changed, t.name) {
			return "how many rows it answers depends on what the others change"
		}
	}
	return ""
}

// weights is the mix as plans write it.
func (m *mix) weights() string {
	var parts []string
	add := func(part []*operation, share int) {
		for _, o := range part {
			parts = append(parts, fmt.Sprintf("%s: %d", scalar(o.name), max(1, share/len(part))))
		}
	}
	add(m.reads, readShare)
	add(m.writes, writeShare)
	return "{" + strings.Join(parts, ", ") + "}"
}
