package kit

import (
	"errors"

	"assay/kit/answer"
	"assay/kit/wire"
)

// Shower is a Client of an operation that changes nothing, and can show what it
// reads.
type Shower interface {
	Client
	// Show returns a client that does what this one does, on the same connections
	// and with the same statements, and shows the rows that each step returns,
	// with values as they are stored: where the driver converts them by the type
	// that a column is declared with, the statement may stand inside another. What
	// a Do shows that fails counts for nothing. The shown slice is reused.
	Show(visit func(step int, row []any) error) (Client, error)
}

// answers are what clients answered while they ran as they are measured.
type answers struct{ clients []*answering }

// answering returns what does the same as the clients, and digests it.
func (p *prepared) answering() ([]Client, *answers, error) {
	a := &answers{}
	var clients []Client
	for _, client := range p.clients {
		shown, err := show(client, p.spec)
		if err != nil {
			return nil, nil, errors.Join(err, a.close())
		}
		a.clients = append(a.clients, &answering{digester: shown, want: p.rows, digests: map[int][]string{}})
		clients = append(clients, a.clients[len(a.clients)-1])
	}
	return clients, a, nil
}

// digests returns the digest of each unit of a measurement, in the order of positions. One
// that several clients ran has its digests in any order.
func (a *answers) digests(l *measurement) []string {
	all := map[int][]string{}
	for _, client := range a.clients {
		for position, digests := range client.digests {
			all[position] = append(all[position], digests...)
		}
	}
	list := make([]string, l.units)
	for i := range list {
		position := int((l.first + int64(i)) % l.p.length)
		if digests := all[position]; len(digests) > 0 {
			list[i], all[position] = digests[0], digests[1:]
		}
	}
	return list
}

func (a *answers) close() error {
	var errs []error
	for _, client := range a.clients {
		errs = append(errs, client.Close())
	}
	return errors.Join(errs...)
}

// answering is a client that keeps the digests of its right answers, by position.
type answering struct {
	digester
	want    int // rows; -1: any number
	digests map[int][]string
}

func (a *answering) Do(position int) (int, error) {
	rows, err := a.digester.Do(position)
	if err == nil && (rows == a.want || a.want < 0) {
		a.digests[position] = append(a.digests[position], a.digest())
	}
	return rows, err
}

// digester is a client that digests what it answers.
type digester interface {
	Client
	digest() string // of the last Do, which was no error; empty where that changed data
}

func show(client Client, spec wire.Operation) (digester, error) {
	if mix, ok := client.(*mixClient); ok {
		return mix.show()
	}
	shower, ok := client.(Shower)
	if !ok || spec.Changes {
		return nil, wire.Errorf(wire.Unsupported, "operation %q: this worker does not tell its answers", spec.Name)
	}
	a := &answered{spec: spec}
	var err error
	a.Client, err = shower.Show(func(step int, row []any) error { return a.steps.Row(step, row) })
	return a, err
}

// answered digests the answers of an operation that changes nothing.
type answered struct {
	Client
	spec  wire.Operation
	steps answer.Steps
}

func (a *answered) Do(position int) (int, error) {
	a.steps = answer.NewSteps(a.spec.Steps)
	return a.Client.Do(position)
}

func (a *answered) digest() string { return a.steps.Sum() }

func (c *mixClient) show() (digester, error) {
	m := &mixAnswered{mixClient: mixClient{trace: c.trace, rows: c.rows, specs: c.specs}}
	for i, part := range c.parts {
		if c.specs[i].Changes {
			m.parts, m.own = append(m.parts, part), append(m.own, nil)
			continue
		}
		shown, err := show(part, c.specs[i])
		if err != nil {
			return nil, errors.Join(err, m.Close())
		}
		m.parts, m.own = append(m.parts, shown), append(m.own, shown)
	}
	return m, nil
}

type mixAnswered struct {
	mixClient
	own  []digester // by part; nil where a part is the measured client itself
	last int        // the part that was done
}

func (m *mixAnswered) Do(position int) (int, error) {
	m.last = int(m.trace.Int(0, position))
	return m.mixClient.Do(position)
}

func (m *mixAnswered) digest() string {
	if m.own[m.last] == nil {
		return ""
	}
	return m.own[m.last].digest()
}

// Close leaves the parts alone that are the measured client's.
func (m *mixAnswered) Close() error {
	var errs []error
	for _, part := range m.own {
		if part != nil {
			errs = append(errs, part.Close())
		}
	}
	return errors.Join(errs...)
}
