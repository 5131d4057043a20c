package draft

import (
	"context"
	"time"

	"assay"
)

const (
	// logPages is how many pages a write-ahead log has when SQLite begins it anew.
	logPages = 1000
	// counted is by how many operations of a mix the pages of each are counted.
	counted = 1000
	// longest is how many operations the block of a mix has at most.
	longest = 10_000
	// syncedChanges is how many of them change data, about and at most, where commits
	// wait for the disk.
	syncedChanges = 1000
	// longestBlock is how long a block takes in this process that is made longer.
	longestBlock = 5 * time.Second
)

// lengthen makes the blocks of a mix so long that their warm-up fills the write-ahead
// log once. An application runs for days: its log has been begun anew many times, and
// a commit overwrites a part of it. While the log grows, each commit has the file
// system note the file's new size too, which takes several times as long and is the
// same for all drivers. A mix that cannot be played keeps its blocks: playMix says why.
func (d *drafter) lengthen(ctx context.Context) error {
	b, err := d.probe()
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, d.options.Timeout)
	defer cancel()
	op := b.cases[d.mix.name].Operation
	trace, err := b.data.Trace(limited, op, counted)
	if err != nil {
		return ctx.Err()
	}
	pages, err := b.data.LogPages(limited, op, trace, counted)
	if err == nil {
		d.mix.last(pages, changing(op), d.mix.mean(op))
	}
	return ctx.Err()
}

// changing is the share of a mix that changes data.
func changing(op assay.Operation) float64 {
	total, changes := 0, 0
	for _, part := range op.Parts {
		total += part.Weight
		if part.Operation.Changes {
			changes += part.Weight
		}
	}
	return float64(changes) / float64(max(1, total))
}

// mean is how long an operation of a mix takes in this process.
func (m *mix) mean(op assay.Operation) time.Duration {
	each := map[string]time.Duration{}
	for _, o := range append(m.reads[:len(m.reads):len(m.reads)], m.writes...) {
		each[o.name] = o.usual
	}
	total, sum := 0, time.Duration(0)
	for _, part := range op.Parts {
		total += part.Weight
		sum += time.Duration(part.Weight) * each[part.Operation.Name]
	}
	return sum / time.Duration(max(1, total))
}

// last sets the lengths of blocks, by how many pages an operation adds to the log, the
// share that changes data, and the time of each.
func (m *mix) last(pages, changing float64, each time.Duration) {
	if pages == 0 {
		return
	}
	limit := float64(longest)
	if each > 0 {
		limit = min(limit, float64(longestBlock/each))
	}
	for profile, least := range m.counts {
		n := min(limit, logPages/warmUp/pages)
		if profile != "web" {
			n = min(n, syncedChanges/changing)
		}
		m.counts[profile] = max(least, int64(n)/100*100)
	}
}
