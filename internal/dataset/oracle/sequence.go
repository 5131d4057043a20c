package oracle

import (
	"context"
	"database/sql"
	"slices"

	"assay/internal/dataset"
)

// SequenceAnswers returns the digests of what the units of a sequence answer that change nothing; one is
// empty where it is not known. Of one client all are. Of several, those that no change may
// overlap are, and that are the same in the order of the sequence and in the opposite one of
// those that it leaves open.
func (p Played) SequenceAnswers(ctx context.Context) ([]string, error) {
	told, err := p.Data.SequenceAnswers(ctx, p.Operation, p.Trace, dataset.Span(0, p.Done.Measured))
	if err != nil {
		return nil, err
	}
	varies := func(ctx context.Context, conn *sql.Conn) error { return repeats(ctx, conn, p.Operation) }
	if err := p.Data.Replay(ctx, p.Operation, p.Trace, nil, dataset.Watch{Begin: varies}); err != nil {
		return nil, SystemError(ctx, err)
	}
	after, err := p.Trace.After()
	if err != nil || after == nil {
		return told, err
	}
	other, err := p.Data.SequenceAnswers(ctx, p.Operation, p.Trace, opposite(after))
	if err != nil {
		return nil, SystemError(ctx, err) // it is only right in the order of the sequence
	}
	changes := make([]bool, len(told))
	for i, digest := range told {
		changes[i] = digest == "" // or varies
	}
	for i, overlaps := range overlapped(after, changes) {
		if overlaps || other[i] != told[i] {
			told[i] = ""
		}
	}
	return told, nil
}

// opposite is an order of a sequence's units in which those come late that may come late: after
// has how many of the first ones end before each begins.
func opposite(after []int) []int {
	var order, ready []int
	ended, first := make([]bool, len(after)), 0
	waiting := dataset.Span(0, len(after))
	slices.SortStableFunc(waiting, func(a, b int) int { return after[a] - after[b] })
	for len(order) < len(after) {
		for len(waiting) > 0 && after[waiting[0]] <= first {
			ready, waiting = append(ready, waiting[0]), waiting[1:]
		}
		last := slices.Max(ready)
		ready = slices.DeleteFunc(ready, func(i int) bool { return i == last })
		order, ended[last] = append(order, last), true
		for first < len(ended) && ended[first] {
			first++
		}
	}
	return order
}

// overlapped reports which units may be done at the same time as one that changes data.
func overlapped(after []int, changes []bool) []bool {
	changed := make([]int, len(after)+1) // before each position
	running := make([]int, len(after)+1) // how many more than before it
	for i, a := range after {
		if changed[i+1] = changed[i]; changes[i] {
			changed[i+1]++
			running[a]++
			running[i]--
		}
	}
	found, count := make([]bool, len(after)), 0
	for i, a := range after {
		count += running[i]
		found[i] = count > 0 || changed[i] > changed[a]
	}
	return found
}
