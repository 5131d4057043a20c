package runner

import (
	"testing"

	"assay"
	"assay/internal/dataset"
)

// A part of a mix that is so rare that no block comes to it has no answers to verify.
func TestVerifiablePartThatIsNotDrawn(t *testing.T) {
	read := func(name string) assay.Part {
		return assay.Part{Operation: assay.Operation{Name: name, Steps: []assay.Step{{SQL: "SELECT 1", Query: true, Rows: 1}}}}
	}
	mix := assay.Operation{Name: "mix", Parts: []assay.Part{read("often"), read("rare")}}
	got := verifiable(mix, &dataset.Trace{Parts: []dataset.Trace{{Length: 7}, {Length: 0}}})
	if len(got) != 1 || got[0].operation.Name != "often" || got[0].count != 7 {
		t.Errorf("got %+v, want the 7 answers of the part that comes", got)
	}
}
