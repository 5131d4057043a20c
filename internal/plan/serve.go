package plan

import (
	"cmp"

	"assay"
)

// serve checks the keys of an operation that is asked for over HTTP.
func (c checker) serve(o *operation) {
	counts(c.m, o.Load.Closed, "load", maxClients)
	counts(c.m, o.Load.Open, "load", maxCount)
	if o.Load.Closed.set() && o.Load.Open.set() {
		c.m.at(o.Load.place, "a load is closed or open: make two operations of it")
	}
	if o.Load.Closed.set() && o.Clients.set() {
		c.m.at(o.Clients.place, "load: closed says how many clients there are already")
	}
	if o.Load.Arrivals.set() && !o.Load.Open.set() {
		c.m.at(o.Load.place, "arrivals say how the requests of an open load arrive: give the load open")
	}
	if !o.Serve.set() {
		return
	}
	c.m.misplaced(o, "%s does not go with serve", "kv", "phases", "cache", "per", "only")
	for _, s := range o.Transaction.items {
		if s.text != "none" && s.text != "1" {
			c.m.at(s.place, "a request is one operation: with serve, transaction is none or 1")
		}
	}
	for _, e := range o.Mix.entries {
		if part, ok := c.operations.get(e.key.value); ok && part.KV.set() {
			c.m.at(e.key.place, "%s is a kv operation, which does not go with serve", e.key.value)
		}
	}
}

// arrivalsAxis makes an axis of the ways in which the requests of an open load arrive.
func (c checker) arrivalsAxis(o *operation) Axis {
	if _, taken := o.Params.get(assay.ArrivalsParam); taken {
		c.m.at(o.Load.place, "with load: open, %s is a param of the operation already", assay.ArrivalsParam)
	}
	ways := c.m.words(o.Load.Arrivals, "way of arrival", assay.Arrivals)
	if ways == nil {
		ways = assay.Arrivals[:1]
	}
	return Axis{Name: assay.ArrivalsParam, Values: ways}
}

// clients are the numbers of clients of an operation: of a closed load, or those
// that the open one has connections for.
func (o *operation) clients(m *mistakes, p *Plan) []int {
	if all := counts(m, o.Load.Closed, "load", maxClients); all != nil {
		return all
	}
	return clients(m, o.Clients, p.Clients)
}

// rates are the arrivals a second of an open load; 0 is the closed loop.
func (o *operation) rates(m *mistakes) []int {
	if all := counts(m, o.Load.Open, "load", maxCount); all != nil {
		return all
	}
	return []int{0}
}

func (o *operation) axisSizes(p *Plan) (clients, rates int) {
	return cmp.Or(len(o.Load.Closed.items), len(o.Clients.items), len(p.Clients)), len(o.Load.Open.items)
}
