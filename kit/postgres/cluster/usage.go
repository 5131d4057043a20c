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

// Processes are the server's, on Linux; elsewhere none are told.
func (c *Cluster) Processes() []int { return processes(c.options.Data) }

// Snapshot reads what the server's processes have used until now: on Linux;
// elsewhere it is empty.
func (c *Cluster) Snapshot() Snapshot {
	s := Snapshot{}
	for _, pid := range c.Processes() {
		s[pid] = usage(pid)
	}
	return s
}

// Since is what the processes have used since an earlier moment. What one used
// that has ended meanwhile is its parent's, which is one of them; context
// switches are not.
func (s Snapshot) Since(before Snapshot) Usage {
	var total Usage
	for _, now := range s {
		total.add(now, 1)
	}
	for pid, then := range before {
		if _, lives := s[pid]; !lives {
			then.Switches = 0
		}
		total.add(then, -1)
	}
	return total
}

func (u *Usage) add(other Usage, factor int64) {
	u.CPU += other.CPU * time.Duration(factor)
	u.Read += other.Read * factor
	u.Fetched += other.Fetched * factor
	u.Written += other.Written * factor
	u.Switches += other.Switches * factor
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
