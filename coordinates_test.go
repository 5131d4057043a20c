package assay_test

import (
	"slices"
	"testing"

	"assay"
)

// The words of a cell are its parameters and what is not the plain case, or is named;
// a coordinate that was cleared has none.
func TestWords(t *testing.T) {
	plain := assay.Cell{Operation: "read", Clients: 1, Pool: 1, Idle: 1, Statement: "once"}
	busy := assay.Cell{Operation: "read", Params: map[string]string{"rows": "10", "width": "5"}, Clients: 8, Pool: 4, Idle: 2, Statement: "each", Transaction: 100, Rate: 50}
	alongClients, alongPool := plain, busy
	for _, k := range assay.Coordinates {
		switch k.Name {
		case "clients":
			k.Clear(&alongClients)
		case "pool":
			k.Clear(&alongPool)
		}
	}
	for _, c := range []struct {
		name  string
		cell  assay.Cell
		named []string
		want  []string
	}{
		{"plain", plain, nil, []string{"1 client"}},
		{"plain, the pool named", plain, []string{"pool"}, []string{"1 client", "pool 1"}},
		{"nothing plain", busy, nil, []string{"10 rows", "width=5", "8 clients", "pool 4", "2 idle", "statement each", "transaction 100", "50 arrivals/s"}},
		{"along the clients", alongClients, nil, nil},
		{"along the pool", alongPool, nil, []string{"10 rows", "width=5", "8 clients", "2 idle", "statement each", "transaction 100", "50 arrivals/s"}},
	} {
		if got := c.cell.Words(c.named...); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestParamWords(t *testing.T) {
	cell := assay.Cell{Params: map[string]string{"rows": "100000", "n": "1000", "cache": "cold", "users": "000", "pages": "some"}}
	if got, want := cell.ParamWords(), []string{"cache=cold", "n=1k", "pages=some", "100k rows", "000 users"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
