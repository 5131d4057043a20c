package host

import (
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// addStorage adds the facts of the file system and the device that dir, an
// absolute path without symbolic links, lies on.
func addStorage(facts map[string]string, files fs.FS, dir string) {
	m, found := mountOf(read(files, "proc/self/mountinfo"), filepath.ToSlash(dir))
	if !found {
		return
	}
	put(facts, "filesystem", m.kind)
	put(facts, "mount-options", strings.Join(m.options, ","))
	disk := diskOf(files, m)
	if disk == "" {
		return
	}
	put(facts, "device", path.Base(disk))
	put(facts, "device-model", read(files, disk+"/device/model"))
	put(facts, "rotational", map[string]string{"0": "no", "1": "yes"}[read(files, disk+"/queue/rotational")])
	put(facts, "write-cache", read(files, disk+"/queue/write_cache"))
	put(facts, "io-scheduler", chosen(read(files, disk+"/queue/scheduler")))
}

// mount is one line of /proc/self/mountinfo.
type mount struct {
	number  string // major:minor of the device
	point   string
	kind    string // type of the file system
	source  string // the device's path, or whatever the file system calls its source
	options []string
	upper   string // of an overlay: the folder that takes its writes
}

// mountOf finds the mount that a path lies on: the one with the longest mount
// point, and of several on one point the last.
func mountOf(mountinfo, file string) (best mount, found bool) {
	for line := range strings.Lines(mountinfo) {
		m, ok := parseMount(line)
		if ok && below(file, m.point) && len(m.point) >= len(best.point) {
			best, found = m, true
		}
	}
	return best, found
}

func below(file, folder string) bool {
	rest, found := strings.CutPrefix(file, folder)
	return found && (rest == "" || rest[0] == '/' || strings.HasSuffix(folder, "/"))
}

// parseMount reads a line: ID, parent, number, root, mount point, options, any
// number of tags, a dash, then type, source and the file system's options.
func parseMount(line string) (mount, bool) {
	front, back, found := strings.Cut(line, " - ")
	fields, rest := strings.Fields(front), strings.Fields(back)
	if !found || len(fields) < 6 || len(rest) < 2 {
		return mount{}, false
	}
	m := mount{number: fields[2], point: unescape(fields[4]), kind: rest[0], source: unescape(rest[1])}
	m.options = strings.Split(fields[5], ",")
	if len(rest) > 2 {
		m.options = append(m.options, strings.Split(rest[2], ",")...)
	}
	for _, option := range m.options {
		if folder, found := strings.CutPrefix(option, "upperdir="); found {
			m.upper = unescape(folder)
		}
	}
	m.options = slices.DeleteFunc(m.options, uninteresting)
	slices.Sort(m.options)
	m.options = slices.Compact(m.options)
	return m, true
}

// telling are the options that concern speed or durability. All others are
// left out, for some name servers, people and paths.
var telling = []string{
	"ro", "rw", "sync", "dirsync", "noatime", "relatime", "strictatime", "nodiratime", "lazytime",
	"barrier", "nobarrier", "data", "commit", "journal_checksum", "journal_async_commit", "auto_da_alloc", "noauto_da_alloc",
	"compress", "compress-force", "datacow", "nodatacow", "datasum", "nodatasum", "ssd", "nossd", "discard", "dax",
	"logbufs", "logbsize", "allocsize", "volatile", "vers", "proto", "hard", "soft", "cache",
}

func uninteresting(option string) bool {
	name, _, _ := strings.Cut(option, "=")
	return !slices.Contains(telling, name)
}

// unescape undoes the \ooo by which the kernel writes spaces and the like.
func unescape(text string) string {
	before, after, found := strings.Cut(text, `\`)
	if !found {
		return text
	}
	if len(after) >= 3 {
		if code, err := strconv.ParseUint(after[:3], 8, 8); err == nil {
			return before + string([]byte{byte(code)}) + unescape(after[3:])
		}
	}
	return before + `\` + unescape(after)
}

// diskOf returns the folder in /sys of the whole disk that a mount lies on,
// empty where there is none.
func diskOf(files fs.FS, m mount) string {
	// btrfs shows a number that belongs to no device, but its source does.
	for _, name := range []string{"sys/dev/block/" + m.number, "sys/class/block/" + path.Base(m.source)} {
		target, err := fs.ReadLink(files, name)
		if err != nil {
			continue
		}
		device := path.Join(path.Dir(name), target)
		if _, err := fs.Stat(files, device+"/partition"); err == nil {
			device = path.Dir(device)
		}
		return device
	}
	return ""
}
