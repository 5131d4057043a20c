package answer

import (
	"encoding/json"
	"math"
	"testing"
)

func TestBody(t *testing.T) {
	var body Body
	types := []string{"int", "real?", "text", "blob", "bool"}
	for _, test := range []struct {
		rows [][]any
		want string
	}{
		{nil, `{"answer":[],"rows":0}`},
		{[][]any{{int64(-1), 5.0, "a", []byte{0, 255}, true}}, `{"answer":[[-1,5,"a","AP8=",true]],"rows":1}`},
		{[][]any{{int64(1), nil, "", []byte{}, int64(0)}, {true, int64(2), "grün \"<\n", "x", false}},
			`{"answer":[[1,null,"","",false],[1,2,"grün \"\u003c\n","eA==",false]],"rows":2}`},
		{[][]any{{int64(1), math.Inf(-1), "", []byte{}, false}}, `{"answer":[[1,"-Inf","","",false]],"rows":1}`},
		{[][]any{{int64(1), 1e300, "", []byte{}, false}}, `{"answer":[[1,1e+300,"","",false]],"rows":1}`},
	} {
		body.Begin()
		for _, row := range test.rows {
			if err := body.Row(types, row); err != nil {
				t.Fatal(err)
			}
		}
		got := body.End(len(test.rows))
		if string(got) != test.want || !json.Valid(got) {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
	if err := body.Row([]string{"int"}, []any{"x"}); err == nil || err.Error() != "column 1: string where int is declared" {
		t.Errorf("a text as int: %v", err)
	}
	if err := body.Row([]string{"int"}, []any{nil}); err == nil {
		t.Error("NULL as int is taken")
	}
	if err := body.Row([]string{"int"}, nil); err == nil {
		t.Error("a row without columns is taken")
	}
}

// TestSums: RowsSum is of the number of rows alone, however the rows end.
func TestSums(t *testing.T) {
	one, other, two := []byte(`{"answer":[[1,"a,"]],"rows":1}`), []byte(`{"answer":[],"rows":1}`), []byte(`{"answer":[],"rows":2}`)
	if Sum(one) == Sum(other) || RowsSum(one) != RowsSum(other) || RowsSum(other) == RowsSum(two) {
		t.Error("sums do not tell what they should")
	}
}
