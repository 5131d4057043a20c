package draft

import (
	"assay"
	"os"
	"testing"
	"time"
)

func TestZZ(t *testing.T) {
	sql, _ := os.ReadFile("/tmp/dr/q.sql")
	d, err := Make(t.Context(), Options{Database: "/tmp/dr/shop.db", Queries: "/tmp/dr/q.sql", SQL: string(sql), Plan: "/tmp/dr/shop.yaml", Estimate: func([]assay.Case, int) time.Duration { return time.Minute }})
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile("/tmp/dr/shop.yaml", []byte(d.Text), 0644)
	t.Log(d.Operations, d.LeftOut, d.Cells)
}
