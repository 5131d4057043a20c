package kit

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/kit/answer"
	"assay/kit/column"
	"assay/kit/column/columntest"
	"assay/kit/wire"
)

// tellingDatabase answers each position with its number, as text.
type tellingDatabase struct{ fakeDatabase }

func (d tellingDatabase) Prepare(op wire.Operation, trace *column.File) (Operation, error) {
	prepared, err := d.fakeDatabase.Prepare(op, trace)
	return tellingOperation{prepared, op}, err
}

type tellingOperation struct {
	Operation
	op wire.Operation
}

func (o tellingOperation) Client() (Client, error) {
	client, err := o.Operation.Client()
	return tellingClient{client, o.op}, err
}

type tellingClient struct {
	Client
	op wire.Operation
}

func (c tellingClient) Show(visit func(int, []any) error) (Client, error) {
	return shownClient{c, visit}, nil
}

type shownClient struct {
	tellingClient
	visit func(int, []any) error
}

func (c shownClient) Do(position int) (int, error) {
	for i := range c.op.Steps {
		if err := c.visit(i, []any{fmt.Sprint(c.op.Name, position)}); err != nil {
			return 0, err
		}
	}
	return c.Client.Do(position)
}

func (c shownClient) Close() error { return nil } // the fake's client is closed by its own operation

// tellingOperationOf is an operation with an answer of one text.
func tellingOperationOf(name, trace string) wire.Operation {
	return wire.Operation{Name: name, Trace: trace, Steps: []wire.Step{{SQL: "SELECT ?", Query: true, Args: 1, Rows: 1, Returns: []string{"text"}}}}
}

// told are the digests of texts; an empty one has none.
func told(t *testing.T, texts string) (digests []string) {
	t.Helper()
	for _, text := range strings.Split(texts, " ") {
		h := answer.New([]string{"text"})
		must(t, h.Row([]any{text}))
		digest := h.Sum()
		if text == "-" {
			digest = ""
		}
		digests = append(digests, digest)
	}
	return digests
}

// Clients tell the answer of each unit, in the order of positions, however many
// they are; of a mix, its reading parts do.
func TestAnswers(t *testing.T) {
	read := tellingOperationOf("r", numbers(t, 4))
	change := wire.Operation{Name: "c", Changes: true, Trace: numbers(t, 4), Steps: []wire.Step{{SQL: "UPDATE", Args: 1, Rows: 1}}}
	mix := wire.Operation{Name: "mix", Changes: true, Parts: []wire.Operation{read, change},
		Trace: columntest.Write(t, []column.Type{column.Int, column.Int}, []any{int64(0), int64(3)}, []any{int64(1), int64(0)}, []any{int64(0), int64(1)})}
	for _, c := range []struct {
		op                wire.Operation
		clients           int
		start, operations int64
		want              string
	}{
		{read, 1, 0, 3, "r0 r1 r2"},
		{read, 3, 2, 6, "r2 r3 r0 r1 r2 r3"},
		{mix, 1, 0, 3, "r3 - r1"},
		{mix, 4, 1, 5, "- r1 r3 - r1"},
	} {
		p, err := prepareOperation(tellingDatabase{fakeDatabase{&fake{}}}, c.op, c.clients)
		must(t, err)
		m, err := p.measure(wire.Measure{Start: c.start, Operations: c.operations, Answers: true})
		if err != nil || !slices.Equal(m.Digests, told(t, c.want)) {
			t.Errorf("%s, %d clients: got %.12q (%v), want those of %s", c.op.Name, c.clients, m.Digests, err, c.want)
		}
		if m, err = p.measure(wire.Measure{Start: c.start, Operations: c.operations}); err != nil || m.Digests != nil {
			t.Errorf("%s without answers: got %d digests (%v), want none", c.op.Name, len(m.Digests), err)
		}
		if err := p.close(); err != nil {
			t.Error(err)
		}
	}
}

// What failed has no answer; the others keep theirs.
func TestAnswersOfFailures(t *testing.T) {
	f := &fake{do: func(_ wire.Operation, position int) (int, error) {
		if position == 1 {
			return 0, fmt.Errorf("failed")
		}
		return 1, nil
	}}
	p, err := prepareOperation(tellingDatabase{fakeDatabase{f}}, tellingOperationOf("r", numbers(t, 3)), 2)
	must(t, err)
	m, err := p.measure(wire.Measure{Operations: 3, Answers: true})
	if want := told(t, "r0 - r2"); err != nil || m.Errors != 1 || !slices.Equal(m.Digests, want) {
		t.Errorf("got %d errors and %.12q (%v), want 1 and %.12q", m.Errors, m.Digests, err, want)
	}
}

// Answers are told of a number of operations, and by clients that can.
func TestAnswersRefused(t *testing.T) {
	p := prepareFake(t, &fake{}, oneRow("one"), 1)
	for want, request := range map[string]wire.Measure{wire.Unsupported: {Operations: 1, Answers: true}, wire.Invalid: {Nanos: 1, Answers: true}} {
		if _, err := p.measure(request); !strings.HasPrefix(refusal(err), want+":") {
			t.Errorf("%+v: got %v, want an error of code %s", request, err, want)
		}
	}
}
