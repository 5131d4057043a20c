package plan_test

import (
	"fmt"

	"assay/internal/plan"
)

// From a user's plan to the cells that a run measures.
func ExampleDecode() {
	p, err := plan.Decode("shop.yaml", []byte(`
name: shop
drivers: [mattn, modernc]
profiles:
  web: {journal_mode: wal, synchronous: normal}
workload:
  name: shop
  schema: CREATE TABLE item (id INTEGER PRIMARY KEY, price INTEGER NOT NULL);
  data:
    item: SELECT value, random(1, 99) FROM generate_series(1, 100)
operations:
  by-id: {sql: "SELECT price FROM item WHERE id = ?", args: "SELECT random(1, 100)", rows: 1, returns: [int], clients: [1, 8]}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	cases, err := p.Expand(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range cases {
		fmt.Println(c.Cell.Operation, c.Cell.Driver, c.Cell.Profile, c.Cell.Clients, c.Profile.Settings["synchronous"])
	}
	// Output:
	// by-id mattn web 1 1
	// by-id modernc web 1 1
	// by-id mattn web 8 1
	// by-id modernc web 8 1
}
