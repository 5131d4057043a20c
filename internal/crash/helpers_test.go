package crash

import (
	"bytes"
	"testing"

	"assay/internal/crash/powercut"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write, flush and ack build recordings.
func write(number int64, b byte) powercut.Op {
	return powercut.Op{Kind: powercut.OpWrite, Offset: number * powercut.BlockBytes, Data: bytes.Repeat([]byte{b}, powercut.BlockBytes)}
}

var flush, ack = powercut.Op{Kind: powercut.OpFlush}, powercut.Op{Kind: powercut.OpAck}

func recording(ops ...powercut.Op) *powercut.Recording {
	return &powercut.Recording{Base: powercut.NewImage(16 * powercut.BlockBytes), Ops: ops}
}
