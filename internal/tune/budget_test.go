package tune

import (
	"strings"
	"testing"
	"time"
)

// A budget that is used up measures nothing more, as nothing could be confirmed.
func TestSpentBudget(t *testing.T) {
	indexed := switches(8).With([]Factor{{First: true, Levels: []Level{{}, {Prepare: []string{"ANALYZE"}}}}})
	for name, c := range map[string]struct {
		space Space
		want  string // the stages that were asked for
	}{"settings": {switches(8), "screening1"}, "indexes": {indexed, "indexes1"}} {
		m := newMachine(func(Point) float64 { return 0 })
		o := run(t, c.space, time.Millisecond, m)
		var got []string
		for _, asked := range m.asked {
			stage, _, _ := strings.Cut(asked, " ")
			got = append(got, stage)
		}
		if strings.Join(got, " ") != c.want || !o.Unconfirmed || o.Enough < time.Second {
			t.Errorf("%s: got %v, unconfirmed %t, %s would be enough; want %s and no more", name, got, o.Unconfirmed, o.Enough, c.want)
		}
	}
}
