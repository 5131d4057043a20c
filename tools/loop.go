//go:build unix

package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"assay/internal/stat"
	"assay/kit/wire"
)

const (
	windowLength = 20 * time.Millisecond
	rounds       = 40
)

// loop measures what the measured loop costs by an operation that does
// nothing.
func (t *tools) loop() error {
	program, err := t.worker("null")
	if err != nil {
		return err
	}
	worker, err := t.opened(program, t.dir, wire.Open{Path: t.dir, Readers: 1, Idle: 1})
	if err != nil {
		return err
	}
	defer worker.Kill()
	op := wire.Operation{Name: "nothing", Steps: []wire.Step{{SQL: "nothing", Query: true, Rows: 1}}}
	if err := worker.Call(t.ctx, wire.TypePrepare, wire.Prepare{Operation: op, Clients: 1}, nil); err != nil {
		return err
	}
	var alone, batched []float64
	for range rounds {
		for batch, figures := range map[int64]*[]float64{1: &alone, 1000: &batched} {
			var m wire.Measured
			request := wire.Measure{Operation: "nothing", Nanos: int64(windowLength), Batch: batch, Latency: batch == 1}
			if err := worker.Call(t.ctx, wire.TypeMeasure, request, &m); err != nil {
				return err
			}
			*figures = append(*figures, float64(m.Nanos)/float64(m.Operations))
		}
	}
	say("measured loop, one by one with latencies", stat.LogInterval(alone), "ns/op", "at most 50", 0, 50)
	say("measured loop, in batches", stat.LogInterval(batched), "ns/op", "at most 3", 0, 3)
	return nil
}

// missed says that a bar was.
var missed bool

// say prints a line with a figure, its interval and its bar.
func say(what string, i stat.Interval, unit, bar string, low, high float64) {
	verdict := "ok"
	if i.Center < low || i.Center > high || math.IsNaN(i.Center) {
		verdict, missed = "MISSED", missed || !strings.HasPrefix(bar, "wished")
	}
	interval := ""
	if i.Known() {
		interval = fmt.Sprintf(" [%.4g, %.4g]", i.Low, i.High)
	}
	fmt.Printf("%-55s %.4g%s %s  (bar: %s) %s\n", what, i.Center, interval, unit, bar, verdict)
}
