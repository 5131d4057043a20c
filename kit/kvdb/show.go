package kvdb

import (
	"bytes"

	"assay/kit"
	"assay/kit/wire"
)

// shower reads as getter and reader do, and shows it.
type shower struct {
	client
	visit func(step int, row []any) error
}

func (g *getter) Show(visit func(int, []any) error) (kit.Client, error) {
	return &shower{g.client, visit}, nil
}

func (r *reader) Show(visit func(int, []any) error) (kit.Client, error) {
	return &shower{r.client, visit}, nil
}

func (s *shower) Do(position int) (rows int, err error) {
	for i := range s.steps {
		err := s.answer(s.store, &s.steps[i], position, func(row []any) error {
			rows++
			return s.visit(i, row)
		})
		if err != nil {
			return rows, s.db.busy(err)
		}
	}
	return rows, nil
}

// answer visits what a step answers; its values last until the next one.
func (c *client) answer(from Getter, s *step, position int, visit func(row []any) error) error {
	key := c.trace.Bytes(s.args, position)
	switch s.KV {
	case wire.Get, wire.GetField:
		value, found, err := from.Get(key, c.value[:0])
		c.value = value
		if err != nil || !found {
			return err
		}
		row, err := cut(nil, value, s.Fields)
		if err != nil {
			return err
		}
		if s.KV == wire.GetField {
			row = row[s.Field : s.Field+1]
		}
		return visit(row)
	case wire.Scan:
		var row []any
		return c.store.Scan(key, int(c.trace.Int(s.args+1, position)), func(key, value []byte) (err error) {
			if row, err = cut(append(row[:0], key), value, s.Fields); err != nil {
				return err
			}
			return visit(row)
		})
	}
	return wire.Errorf(wire.Unsupported, "%s changes data: it has no answer", s.KV)
}

// viewShower gets keys in a read transaction as viewer does, and shows them when
// it has ended: the store may run it again.
type viewShower struct {
	*viewer
	visit func(step int, row []any) error
}

func (v *viewer) Show(visit func(int, []any) error) (kit.Client, error) {
	return &viewShower{newViewer(v.client), visit}, nil
}

func (v *viewShower) Do(position int) (int, error) {
	var shown []struct {
		step int
		row  []any
	}
	err := v.store.View(func(from Getter) error {
		shown = nil
		for i := range v.transaction * len(v.steps) {
			step := i % len(v.steps)
			err := v.answer(from, &v.steps[step], position*v.transaction+i/len(v.steps), func(row []any) error {
				for j := range row {
					row[j] = bytes.Clone(row[j].([]byte))
				}
				shown = append(shown, struct {
					step int
					row  []any
				}{step, row})
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, v.db.busy(err)
	}
	for _, s := range shown {
		if err := v.visit(s.step, s.row); err != nil {
			return 0, err
		}
	}
	return len(shown), nil
}
