//go:build unix && !linux

package process

import "time"

func sleep(d time.Duration) { time.Sleep(d) }
