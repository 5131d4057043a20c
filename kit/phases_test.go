package kit

import (
	"errors"
	"reflect"
	"testing"

	"assay/kit/wire"
)

// phasedClient has three phases, one of which occurs twice.
type phasedClient struct{ Client }

func (c phasedClient) DoPhases(position int, phases *Phases) (int, error) {
	phases.Begin()
	phases.End(PhaseQuery)
	rows, err := c.Do(position)
	phases.End(PhaseNext)
	phases.End(PhaseNext)
	phases.End(PhaseCloseRows)
	return rows, err
}

func TestPhases(t *testing.T) {
	f, _ := watched()
	p := prepareFake(t, f, oneRow("a"), 1)
	p.clients[0] = phasedClient{p.clients[0]}
	m := measure(t, p, wire.Measure{Operations: 20, Phases: true})
	var names []string
	var counts []int64
	var total int64
	for _, phase := range m.Phases {
		names, counts = append(names, phase.Name), append(counts, phase.Count)
		if phase.Nanos < 0 {
			t.Errorf("%+v", phase)
		}
		total += phase.Nanos
	}
	if !reflect.DeepEqual(names, []string{"query", "next", "close-rows"}) || !reflect.DeepEqual(counts, []int64{20, 40, 20}) {
		t.Errorf("phases %q, counts %d", names, counts)
	}
	if total > m.Nanos || m.Operations != 20 || !(m.ClockNanos > 0) {
		t.Errorf("phases of %d ns in %d ns, %d operations, clock %g ns", total, m.Nanos, m.Operations, m.ClockNanos)
	}
	if m := measure(t, p, wire.Measure{Operations: 20}); m.Phases != nil || m.ClockNanos != 0 {
		t.Errorf("phases that nobody asked for: %+v", m.Phases)
	}
}

func TestPhasesThatCannotBeTimed(t *testing.T) {
	f, _ := watched()
	for clients, code := range map[int]string{1: wire.Unsupported, 2: wire.Invalid} {
		_, err := prepareFake(t, f, oneRow("a"), clients).measure(wire.Measure{Operations: 20, Phases: true})
		var refused *wire.Error
		if !errors.As(err, &refused) || refused.Code != code {
			t.Errorf("%d clients: %v, want %s", clients, err, code)
		}
	}
}
