package host

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"assay"

	"github.com/google/go-cmp/cmp"
)

func files(content map[string]string) fstest.MapFS {
	m := fstest.MapFS{}
	for name, text := range content {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

func link(target string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(target), Mode: fs.ModeSymlink | 0o777}
}

const mountinfo = `22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw,discard,data=ordered,resuid=65534
30 27 0:40 / /home\040of\040all rw,nosuid - nfs4 server.example.org:/secret rw,vers=4.2,clientaddr=10.0.0.7,hard
31 27 0:41 / /data rw - btrfs /dev/sdb1 rw,compress=zstd:3,subvol=/private
32 27 0:42 / /data rw,noatime - overlay overlay rw,lowerdir=/private,upperdir=/x
33 27 0:43 /sub /btr rw - btrfs /dev/sdb1 rw,ssd
nonsense
`

// machine is a Linux machine with an NVMe and a SATA disk.
func machine() fstest.MapFS {
	m := files(map[string]string{
		"proc/cpuinfo":                      "processor\t: 0\nmodel name\t: AMD EPYC\nflags\t\t: fpu hypervisor sse\n\nprocessor\t: 1\nmodel name\t: other\n",
		"proc/meminfo":                      "MemTotal:       16777216 kB\nMemFree:  1 kB\nMemAvailable:    1048576 kB\n",
		"proc/loadavg":                      "0.18 0.39 0.18 1/89 9861\n",
		"proc/self/mountinfo":               mountinfo,
		"proc/sys/kernel/osrelease":         "6.18.44\n",
		"etc/os-release":                    "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n",
		"sys/devices/system/cpu/smt/active": "1\n",
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor":            "powersave\n",
		"sys/devices/system/cpu/cpu1/cpufreq/scaling_governor":            "powersave\n",
		"sys/devices/system/cpu/cpu12/cpufreq/scaling_governor":           "performance\n",
		"sys/devices/system/cpu/intel_pstate/no_turbo":                    "1\n",
		"sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
		"sys/kernel/mm/transparent_hugepage/enabled":                      "always [madvise] never\n",
		"sys/class/dmi/id/sys_vendor":                                     "QEMU\n",
		"sys/class/dmi/id/product_name":                                   "Standard PC\n",
		".dockerenv":                                                      "",
		"sys/devices/pci/nvme0n1/device/model":                            "Samsung SSD 980  \n",
		"sys/devices/pci/nvme0n1/queue/rotational":                        "0\n",
		"sys/devices/pci/nvme0n1/queue/write_cache":                       "write back\n",
		"sys/devices/pci/nvme0n1/queue/scheduler":                         "[none] mq-deadline\n",
		"sys/devices/pci/nvme0n1/nvme0n1p2/partition":                     "2\n",
		"sys/devices/pci/sdb/queue/rotational":                            "1\n",
		"sys/devices/pci/sdb/sdb1/partition":                              "1\n",
	})
	m["sys/dev/block/259:2"] = link("../../devices/pci/nvme0n1/nvme0n1p2")
	m["sys/class/block/sdb1"] = link("../../devices/pci/sdb/sdb1")
	return m
}

// Two machines have two identities, and the ID itself is not shown.
func TestIdentity(t *testing.T) {
	of := func(name, id string) string {
		facts := map[string]string{}
		addIdentity(facts, files(map[string]string{name: id}))
		return facts["machine"]
	}
	const id, other = "3d1219c7c4c5404aaa1f6d2a48adfda4", "4d1219c7c4c5404aaa1f6d2a48adfda4"
	a, b := of("etc/machine-id", id+"\n"), of("etc/machine-id", other+"\n")
	if len(a) != 16 || a == b || strings.Contains(id, a) || a != of("var/lib/dbus/machine-id", id) {
		t.Errorf("got %q and %q, want two digests", a, b)
	}
	for _, none := range []string{"", "uninitialized\n"} {
		if got := of("etc/machine-id", none); got != "" {
			t.Errorf("machine-id %q: got %q, want none", none, got)
		}
	}
}

func TestMachineFacts(t *testing.T) {
	got := map[string]string{}
	addCPU(got, machine())
	addMemory(got, machine())
	addKernel(got, machine())
	addVirtualization(got, machine())
	want := map[string]string{
		"cpu": "AMD EPYC", "smt": "on", "governor": "performance, powersave", "boost": "off",
		"memory": "16 GiB", "memory-available": "1.0 GiB", "huge-pages": "madvise",
		"kernel": "6.18.44", "distribution": "Debian GNU/Linux 12 (bookworm)", "clocksource": "tsc", "load": "0.18",
		"virtualization": "QEMU Standard PC", "container": "docker",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestStorageFacts(t *testing.T) {
	for _, test := range []struct {
		dir  string
		want map[string]string
	}{
		{"/var/lib/x", map[string]string{"filesystem": "ext4", "mount-options": "data=ordered,discard,relatime,rw",
			"device": "nvme0n1", "device-model": "Samsung SSD 980", "rotational": "no", "write-cache": "write back", "io-scheduler": "none"}},
		{"/database", map[string]string{"filesystem": "ext4", "mount-options": "data=ordered,discard,relatime,rw",
			"device": "nvme0n1", "device-model": "Samsung SSD 980", "rotational": "no", "write-cache": "write back", "io-scheduler": "none"}},
		{"/home of all/me", map[string]string{"filesystem": "nfs4", "mount-options": "hard,rw,vers=4.2"}},
		{"/data", map[string]string{"filesystem": "overlay", "mount-options": "noatime,rw"}}, // hides the one before
		{"/btr/x", map[string]string{"filesystem": "btrfs", "mount-options": "rw,ssd", "device": "sdb", "rotational": "yes"}},
		{"", map[string]string{}},
	} {
		got := map[string]string{}
		addStorage(got, machine(), test.dir)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", test.dir, diff)
		}
	}
}

func TestNothingReadable(t *testing.T) {
	got := map[string]string{}
	empty := fstest.MapFS{}
	addCPU(got, empty)
	addMemory(got, empty)
	addKernel(got, empty)
	addVirtualization(got, empty)
	addStorage(got, empty, "/")
	if len(got) != 0 {
		t.Errorf("got %v, want nothing", got)
	}
}

func TestCPUModel(t *testing.T) {
	for text, want := range map[string]string{
		"model name : Intel(R) Xeon(R): two\n":                          "Intel(R) Xeon(R): two",
		"cpu family : 6\ncpu : POWER9\n":                                "POWER9",
		"CPU implementer : 0x41\nCPU architecture: 8\nCPU part : 0xd0c": "implementer 0x41 part 0xd0c",
		"CPU part : 0xd0c":                                              "",
		"":                                                              "",
	} {
		if got := cpuModel(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestBoost(t *testing.T) {
	for want, m := range map[string]fstest.MapFS{
		"on":  files(map[string]string{"sys/devices/system/cpu/intel_pstate/no_turbo": "0"}),
		"off": files(map[string]string{"sys/devices/system/cpu/cpufreq/boost": "0"}),
		"":    files(map[string]string{"sys/devices/system/cpu/cpufreq/boost": "?"}),
	} {
		got := map[string]string{}
		addCPU(got, m)
		if got["boost"] != want {
			t.Errorf("got %q, want %q", got["boost"], want)
		}
	}
}

func TestUnescape(t *testing.T) {
	for text, want := range map[string]string{
		"plain": "plain", `a\040b\011c`: "a b\tc", `\134040`: `\040`, `end\`: `end\`, `\04`: `\04`, `\999x`: `\999x`, `\777`: `\777`,
	} {
		if got := unescape(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestExisting(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, filepath.Join(dir, "link")); err != nil {
		t.Skip("no symbolic links: ", err)
	}
	if got := existing(filepath.Join(dir, "link", "not", "there")); got != dir {
		t.Errorf("got %q, want %q", got, dir)
	}
}

func TestFacts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there")
	facts := Facts(dir)
	for name, want := range map[string]string{"os": runtime.GOOS, "arch": runtime.GOARCH, "go": runtime.Version()} {
		if facts[name] != want {
			t.Errorf("%s is %q, want %q", name, facts[name], want)
		}
	}
	if runtime.GOOS == "linux" {
		for _, name := range []string{"memory", "kernel", "load", "filesystem", "disk-free"} {
			if facts[name] == "" {
				t.Errorf("%s is missing in %v", name, facts)
			}
		}
	}
	for name, value := range facts {
		if value == "" || value != strings.TrimSpace(value) || strings.Contains(value, os.TempDir()) {
			t.Errorf("%s is %q", name, value)
		}
	}
}

func FuzzMountOf(f *testing.F) {
	f.Add(mountinfo, "/data/x")
	f.Add("1 2 3 4 / rw - \\ \\", "/")
	f.Fuzz(func(t *testing.T, text, dir string) {
		m, found := mountOf(text, dir)
		if found && !strings.HasPrefix(dir, m.point) {
			t.Errorf("mount point %q of %q", m.point, dir)
		}
		for _, option := range m.options {
			if uninteresting(option) {
				t.Errorf("option %q", option)
			}
		}
		diskOf(fstest.MapFS{}, m)
	})
}

func FuzzFields(f *testing.F) {
	f.Add("MemTotal:       24684100 kB\n")
	f.Add("model name : x\nPRETTY_NAME='x'\n[a]")
	f.Add("VmHWM: 99999999999999999999 kB")
	f.Fuzz(func(t *testing.T, text string) {
		for _, got := range []string{cpuModel(text), distribution(text), chosen(text), field(text, "VmHWM")} {
			if strings.Contains(got, "\n") {
				t.Errorf("%q holds a line break", got)
			}
		}
		size(kibibytes(text))
	})
}

func TestLossy(t *testing.T) {
	mounts := `27 1 259:2 / / rw - ext4 /dev/nvme0n1p2 rw
28 27 0:21 / /mem rw - tmpfs tmpfs rw
29 27 0:22 / /nfs rw - nfs4 server:/x rw,hard
30 27 0:23 / /fuse rw - fuse.sshfs x rw
31 27 0:24 / /over rw - overlay overlay rw,upperdir=/srv,volatile
32 27 0:25 / /overmem rw - overlay overlay rw,upperdir=/mem/up
33 27 0:26 / /overdisk rw - overlay overlay rw,upperdir=/srv/up
34 27 0:27 / /overhidden rw - overlay overlay rw,upperdir=/not/here
35 27 8:16 / /nobarrier rw - ext4 /dev/sda rw,nobarrier
36 27 259:2 / /through rw - ext4 /dev/nvme0n1p2 rw,barrier=0
37 27 7:0 / /loopmem rw - ext4 /dev/loop0 rw
38 27 7:1 / /loopdisk rw - ext4 /dev/loop1 rw
39 27 253:0 / /zram rw - ext4 /dev/zram0 rw
`
	m := files(map[string]string{"proc/self/mountinfo": mounts, "mem/up/x": "", "srv/up/x": "",
		"sys/block/sda/queue/write_cache": "write back\n", "sys/block/nvme0n1/queue/write_cache": "write through\n",
		"sys/block/loop0/loop/backing_file": "/mem/disk.img\n", "sys/block/loop1/loop/backing_file": "/srv/disk.img\n",
		"sys/block/zram0/size": "1"})
	for number, disk := range map[string]string{"259:2": "nvme0n1", "8:16": "sda", "7:0": "loop0", "7:1": "loop1", "253:0": "zram0"} {
		m["sys/dev/block/"+number] = link("../../block/" + disk)
	}
	for dir, want := range map[string]string{
		"/srv": "", "/mem/x": "tmpfs keeps", "/nfs": "network file system", "/fuse/x": "served by a program",
		"/over": "volatile", "/overmem": "tmpfs keeps", "/overdisk": "", "/overhidden": "",
		"/nobarrier": "nobarrier", "/through": "", "/loopmem": "tmpfs keeps", "/loopdisk": "", "/zram": "is memory",
	} {
		got := lossy(m, dir, maxStacked)
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q in it", dir, got, want)
		}
	}
}

// Files on network file systems and on those that programs serve are not mapped.
func TestUnmappable(t *testing.T) {
	mounts := ""
	for i, kind := range []string{"ext4", "tmpfs", "nfs4", "9p", "virtiofs", "fuse.sshfs", "fuse", "fuseblk", "cifs"} {
		mounts += fmt.Sprintf("%d 27 0:%d / /%s rw - %s none rw\n", 40+i, 50+i, kind, kind)
	}
	mounts += "60 27 0:70 / /over rw - overlay overlay rw,lowerdir=/l,upperdir=/nfs4/up,workdir=/w\n"
	m := files(map[string]string{"proc/self/mountinfo": mounts, "nfs4/up/x": ""})
	for dir, want := range map[string]string{"/ext4": "", "/tmpfs/x": "", "/nfs4/x": "nfs4", "/9p": "9p", "/virtiofs": "virtiofs", "/fuse.sshfs/x": "fuse.sshfs",
		"/fuse": "fuse", "/fuseblk": "fuseblk", "/cifs": "cifs", "/over": "nfs4"} {
		if want != "" {
			want = "the file lies on " + want
		}
		if got := unmappable(m, dir, maxStacked); got != want {
			t.Errorf("%s: got %q, want %q", dir, got, want)
		}
	}
}

// TestPersistence: what the machine's own memory file system is taken for.
func TestPersistence(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "assay-")
	if err != nil {
		t.Skip("no file system in memory at /dev/shm: ", err)
	}
	defer os.RemoveAll(dir)
	if class, why := Persistence(dir); class != assay.Process || !strings.Contains(why, "tmpfs") {
		t.Errorf("%s, %q; want process, because of tmpfs", class, why)
	}
}
