//go:build !linux && !darwin && !freebsd

package host

import "time"

func addNative(map[string]string, string) {}

// SelfCPU is 0: the system does not tell.
func SelfCPU() time.Duration { return 0 }

func maxResident() int64 { return 0 }
