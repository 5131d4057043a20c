package tune

import (
	"slices"

	"assay"
	"assay/kit/wire"
)

// tryUses adds what the program may do in another way before any setting: keep its
// statements, have a pool of another size, and commit changes together.
func (t *Tuning) tryUses() {
	if t.engine.isStore() {
		return
	}
	clients := 0
	for _, o := range t.operations {
		clients = max(clients, o.Cell.Clients)
	}
	var factors []Factor
	for _, uses := range [][]assay.Use{
		{{Statement: string(wire.Once)}},
		{{Pool: clients}, {Pool: (clients + 3) / 4}},
		{{Transaction: 10}, {Transaction: 100}},
	} {
		f := Factor{First: true, Levels: []Level{{}}}
		for _, u := range uses {
			if t.isOther(u) {
				f.Levels = append(f.Levels, Level{Use: u})
			}
		}
		if len(f.Levels) > 1 {
			f.Name = f.Levels[1].Use.String()
			factors = append(factors, f)
		}
	}
	t.space = t.space.With(factors)
}

// isOther reports whether a use changes an operation, to one that the plan does not have
// already, that was not ruled out by --only, and that keeps to the memory.
func (t *Tuning) isOther(u assay.Use) bool {
	var used []assay.Case
	places, changes := map[string]bool{}, false
	for _, o := range t.operations {
		other := u.Of(o)
		changes = changes || other.Cell.Peer() != o.Cell.Peer()
		if places[other.Cell.Peer()] || !t.isChosen(o.Cell, other.Cell) {
			return false
		}
		places[other.Cell.Peer()] = true
		used = append(used, other)
	}
	allowed := max(int64(t.request.Memory), t.engine.memory(t.effective, connections(t.operations)))
	return changes && t.engine.memory(t.effective, connections(used)) <= allowed
}

// isChosen reports whether --only, which chose a cell, would choose it after a change.
func (t *Tuning) isChosen(before, after assay.Cell) bool {
	for key, values := range t.request.Only {
		was, _ := before.Coordinate(key)
		if is, _ := after.Coordinate(key); is != was && !slices.Contains(values, is) {
			return false
		}
	}
	return true
}

func (t *Tuning) uses(points []Point) map[string]assay.Use {
	all := map[string]assay.Use{}
	for _, p := range points {
		if u := t.space.Use(p); u != (assay.Use{}) {
			all[t.profile(p).Name] = u
		}
	}
	return all
}
