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

// Waited returns for how long the living threads of a process were ready to run so far and
// waited for a processor. It works on Linux; ok is false elsewhere, and for a process that
// has ended.
func Waited(pid int) (total time.Duration, ok bool) { return waited(os.DirFS("/"), pid) }

func waited(files fs.FS, pid int) (total time.Duration, ok bool) {
	tasks := fmt.Sprintf("proc/%d/task/", pid)
	threads, err := fs.ReadDir(files, path.Clean(tasks))
	if err != nil {
		return 0, false
	}
	for _, thread := range threads {
		text, _ := fs.ReadFile(files, tasks+thread.Name()+"/schedstat")
		// ns that it ran, ns that it waited, how often it ran
		fields := strings.Fields(string(text))
		if len(fields) != 3 {
			continue // the thread has just ended
		}
		nanos, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			return 0, false
		}
		total, ok = total+time.Duration(nanos), true
	}
	return total, ok
}
