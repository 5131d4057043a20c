//go:build unix

package process

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"time"
)

// ThreadTimes are for how long the living threads of a process ran so far, and were ready to
// run and waited for a processor.
type ThreadTimes struct{ Ran, Waited time.Duration }

// LivingThreads returns the times of a process's threads. It works on Linux; ok is false
// elsewhere, and for a process that has ended.
func LivingThreads(pid int) (total ThreadTimes, ok bool) { return livingThreads(os.DirFS("/"), pid) }

func livingThreads(files fs.FS, pid int) (total ThreadTimes, ok bool) {
	tasks := fmt.Sprintf("proc/%d/task/", pid)
	threads, err := fs.ReadDir(files, path.Clean(tasks))
	if err != nil {
		return total, false
	}
	for _, thread := range threads {
		text, _ := fs.ReadFile(files, tasks+thread.Name()+"/schedstat")
		// ns that it ran, ns that it waited, how often it ran
		fields := strings.Fields(string(text))
		if len(fields) != 3 {
			continue // the thread has just ended
		}
		ran, err := strconv.ParseInt(fields[0], 10, 64)
		waited, err2 := strconv.ParseInt(fields[1], 10, 64)
		if err != nil || err2 != nil {
			return total, false
		}
		total.Ran, total.Waited, ok = total.Ran+time.Duration(ran), total.Waited+time.Duration(waited), true
	}
	return total, ok
}
