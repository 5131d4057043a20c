//go:build !linux && !darwin && !freebsd

package host

import "time"

func addNative(map[string]string, string) {}

func selfCPU() time.Duration { return 0 }

func maxResident() int64 { return 0 }
