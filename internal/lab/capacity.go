package lab

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"assay"
	"assay/internal/runner"
)

// latencyTarget reads a latency target, such as p99=5ms; nil where there is none.
func latencyTarget(text string) (*runner.LatencyTarget, error) {
	if text == "" {
		return nil, nil
	}
	name, value, _ := strings.Cut(text, "=")
	share, known := assay.Percentiles[name]
	limit, err := time.ParseDuration(value)
	if !known || err != nil || limit <= 0 {
		return nil, fmt.Errorf("--find-capacity %q: want a percentile and a time, such as p99=5ms", text)
	}
	return &runner.LatencyTarget{Quantile: share, Max: limit}, nil
}

// searchable are the cases whose capacity can be searched, each once: as often
// as it takes, its requests are made again, which only reads bear. Where the plan
// has open loads, those; otherwise all that are served.
func searchable(all []assay.Case) ([]assay.Case, error) {
	var found []assay.Case
	seen := map[string]bool{}
	for _, open := range []bool{true, false} {
		for _, c := range all {
			if !c.Operation.Serve || c.Operation.Changes || c.Profile.Lazy || open != (c.Cell.Rate > 0) {
				continue
			}
			c.Cell.Rate, c.Cell.Params = 0, maps.Clone(c.Cell.Params)
			if c.Cell.Params == nil {
				c.Cell.Params = map[string]string{}
			}
			if c.Cell.Params[assay.ArrivalsParam] == "" { // of a closed load
				c.Cell.Params[assay.ArrivalsParam] = assay.PoissonArrivals
			}
			if key := c.Cell.Key(); !seen[key] {
				seen[key] = true
				found = append(found, c)
			}
		}
		if len(found) > 0 {
			return found, nil
		}
	}
	return nil, errors.New("the plan has no operation with serve: http that changes nothing: there is no capacity to find")
}
