package wire

import (
	"reflect"
	"testing"
)

// TestAllCounters: the list has every field, under its name on the wire.
func TestAllCounters(t *testing.T) {
	var c Counters
	all, fields := c.All(), reflect.ValueOf(&c).Elem()
	if len(all) != fields.NumField() {
		t.Fatalf("%d counters are listed, want %d", len(all), fields.NumField())
	}
	for i, got := range all {
		want := fields.Type().Field(i).Tag.Get("json")
		if got.Name != want || got.Value != fields.Field(i).Addr().Interface() {
			t.Errorf("counter %d is %s at %p, want %s at %p", i, got.Name, got.Value, want, fields.Field(i).Addr().Interface())
		}
	}
}

func TestCounterSums(t *testing.T) {
	before := Counters{CPU: 1, Allocs: 2, Alloc: 3, Read: 4, Fetched: 5, Written: 6, Switches: 7, Peak: 8}
	after := Counters{CPU: 11, Allocs: 22, Alloc: 33, Read: 44, Fetched: 55, Written: 66, Switches: 77, Peak: 88}
	since := Counters{CPU: 10, Allocs: 20, Alloc: 30, Read: 40, Fetched: 50, Written: 60, Switches: 70, Peak: 88}
	if got := after.Since(before); got != since {
		t.Errorf("since: got %+v, want %+v", got, since)
	}
	for _, got := range []struct{ sum, more Counters }{{before, since}, {since, before}} {
		if got.sum.Add(got.more); got.sum != after {
			t.Errorf("sum: got %+v, want %+v", got.sum, after)
		}
	}
}
