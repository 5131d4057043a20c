//go:build !linux

package load

import "time"

func reduceTimerSlack() {}

func sleep(d time.Duration) { time.Sleep(d) }
