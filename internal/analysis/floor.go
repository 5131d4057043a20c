package analysis

import "slices"

// floorOf is the first floor with a row's profile: that of its engine or, of
// key-value stores, that of all.
func (c *contest) floorOf(row *Row) *Row {
	if row.IsFloor || row.Twin {
		return nil
	}
	i := slices.IndexFunc(c.rows, func(floor *Row) bool {
		return floor.IsFloor && !floor.Twin && row.Cell.Profile == floor.Cell.Profile && (row.Cell.Engine == floor.Cell.Engine || floor.generalFloor)
	})
	if i < 0 {
		return nil
	}
	return c.rows[i]
}

func (t *Table) compareWithFloor() {
	for _, row := range t.contest.rows {
		if floor := t.contest.floorOf(row); floor != nil {
			if c, ok := t.contest.compare(row, floor); ok && c.Ratio.N > 0 {
				ratio := c.Ratio // alone, not all of the comparison
				row.Floor = &ratio
			}
		}
	}
}

// HasFloor reports whether some row was held against a floor.
func (t *Table) HasFloor() bool {
	return slices.ContainsFunc(t.Rows, func(row *Row) bool { return row.Floor != nil })
}
