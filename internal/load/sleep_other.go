//go:build !linux

package load

import "time"

func punctual() {}

func sleep(d time.Duration) { time.Sleep(d) }
