//go:build unix

package cluster

import "time"

// Usage is what processes of a server used. Its memory is not in it: most of
// that is shared, and would be counted for each.
type Usage struct {
	CPU                              time.Duration
	Read, Fetched, Written, Switches int64 // as in wire.Counters
}

// Snapshot is what each process of a server had used at a moment.
type Snapshot map[int]Usage

// Snapshot reads what the server's processes have used until now: on Linux;
// elsewhere it is empty.
func (c *Cluster) Snapshot() Snapshot {
	s := Snapshot{}
	for _, pid := range processes(c.options.Data) {
		s[pid] = usage(pid)
	}
	return s
}

// Since is what the processes have used since an earlier moment. What one used
// that has ended meanwhile is not in it.
func (s Snapshot) Since(before Snapshot) Usage {
	var total Usage
	for pid, now := range s {
		then := before[pid]
		total.CPU += now.CPU - then.CPU
		total.Read += now.Read - then.Read
		total.Fetched += now.Fetched - then.Fetched
		total.Written += now.Written - then.Written
		total.Switches += now.Switches - then.Switches
	}
	return total
}

// CPU is the CPU time that the server has used so far.
func (c *Cluster) CPU() time.Duration {
	if used := c.Used(); used > 0 {
		return used
	}
	return c.Snapshot().Since(nil).CPU
}

// Used is the CPU time of the ended server, with all of its processes; 0 while it
// runs.
func (c *Cluster) Used() time.Duration {
	if c.Alive() {
		return 0
	}
	return c.command.ProcessState.UserTime() + c.command.ProcessState.SystemTime()
}
