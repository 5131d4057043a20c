package kit

import (
	"sync"

	"assay/kit/wire"
)

// sequence has the clients of a mix begin each unit when those before it have ended that its trace
// names: the first ones, so many of them.
type sequence struct {
	mix   *mix
	mu    sync.Mutex
	more  *sync.Cond
	ended []bool
	first int // all below have ended
}

// newSequence is nil where one client, or the trace of a mix without an order, has none to keep.
func newSequence(p *prepared, request wire.Measure) (*sequence, error) {
	m, is := p.operation.(*mix)
	if !is || m.trace.Columns() < 3 || len(p.clients) == 1 {
		return nil, nil
	}
	if request.Operations == 0 || request.Start+request.Operations > p.length {
		return nil, wire.Errorf(wire.Invalid, "a mix in order has blocks that end with its trace at the latest")
	}
	o := &sequence{mix: m, ended: make([]bool, p.length), first: int(request.Start)}
	o.more = sync.NewCond(&o.mu)
	return o, nil
}

func (o *sequence) wait(position int) {
	after := int(o.mix.trace.Int(2, position))
	o.mu.Lock()
	for o.first < after {
		o.more.Wait()
	}
	o.mu.Unlock()
}

func (o *sequence) end(position int) {
	o.mu.Lock()
	o.ended[position] = true
	before := o.first
	for o.first < len(o.ended) && o.ended[o.first] {
		o.first++
	}
	if o.first > before {
		o.more.Broadcast()
	}
	o.mu.Unlock()
}
