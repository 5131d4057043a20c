package analysis

import (
	"assay"
	"assay/internal/stat"
)

// floorFact is what a target says of itself that measures the engine with
// nothing in between.
const floorFact = "floor"

// markFloors finds the rows of targets that are a floor: they are what others
// are held against, and no choice.
func markFloors(targets []assay.Target, rows []*Row) {
	floors, general := map[string]bool{}, map[string]bool{}
	for _, t := range targets {
		if t.Facts[floorFact] == "true" {
			floors[t.Name()] = true
			general[t.Name()] = t.Facts["api"] == "key-value"
		}
	}
	for _, row := range rows {
		row.IsFloor = floors[row.Cell.Target()]
		row.generalFloor = general[row.Cell.Target()]
	}
}

// compareWithFloor gives each row its ratio to the first floor with the same
// profile: that of its engine or, of key-value stores, that of all.
func (t *Table) compareWithFloor(rule stat.Rule) {
	for _, floor := range t.Rows {
		if !floor.IsFloor || !floor.Comparable() {
			continue
		}
		for _, row := range t.Rows {
			if row.Floor == nil && !row.IsFloor && row.Comparable() && row.Cell.Profile == floor.Cell.Profile && (row.Cell.Engine == floor.Cell.Engine || floor.generalFloor) {
				t.overFloor(row, floor, rule)
			}
		}
	}
}

func (t *Table) overFloor(row, floor *Row, rule stat.Rule) {
	figures, partners := pair(row, floor, t.Primary.Name)
	if c, err := rule.Compare(figures, partners, t.Primary.HigherBetter); err == nil && c.Ratio.N > 0 {
		row.Floor = &c.Ratio
	}
}

// HasFloor tells whether some row was held against a floor.
func (t *Table) HasFloor() bool {
	for _, row := range t.Rows {
		if row.Floor != nil {
			return true
		}
	}
	return false
}
