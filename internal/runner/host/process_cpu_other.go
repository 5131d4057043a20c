//go:build !linux

package host

import "time"

// ProcessCPU works on Linux only.
func ProcessCPU(int) (time.Duration, bool) { return 0, false }
