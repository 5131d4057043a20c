#include "counters.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

// own_reads is how many bytes of these files were read so far: it is taken out
// of what the process read.
static int64_t own_reads;

static int64_t nanos(struct timeval t) { return (int64_t)t.tv_sec * 1000000000 + (int64_t)t.tv_usec * 1000; }

static void read_usage(counters *c) {
	struct rusage usage;
	if (getrusage(RUSAGE_SELF, &usage) != 0) return; // it cannot fail with these arguments
	c->cpu = nanos(usage.ru_utime) + nanos(usage.ru_stime);
	c->switches = usage.ru_nvcsw + usage.ru_nivcsw;
#ifndef __linux__
	c->peak = usage.ru_maxrss;
#endif
}

#ifdef __linux__
static int64_t field(const char *text, const char *name) {
	const char *found = strstr(text, name);
	return found == NULL ? 0 : strtoll(found + strlen(name), NULL, 10);
}

static void read_file(const char *path, char *text, size_t room) {
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, room - 1);
	if (fd >= 0) close(fd);
	text[n < 0 ? 0 : n] = 0;
	own_reads += (int64_t)strlen(text);
}

static void read_system(counters *c) {
	char text[8192];
	read_file("/proc/self/status", text, sizeof text);
	c->peak = field(text, "VmHWM:") << 10; // from KiB
	int64_t before = own_reads;
	read_file("/proc/self/io", text, sizeof text);
	c->read = field(text, "rchar:") - before;
	c->fetched = field(text, "\nread_bytes:");
	c->written = field(text, "\nwrite_bytes:");
}

// schedstat has for how long, in ns, the thread ran, then for how long it waited for a
// processor, and how often it ran.
static void read_waited(counters *c) {
	char text[128];
	read_file("/proc/thread-self/schedstat", text, sizeof text);
	const char *second = strchr(text, ' ');
	c->waited = second == NULL ? -1 : strtoll(second, NULL, 10);
}
#else
static void read_system(counters *c) { (void)c; }
static void read_waited(counters *c) { c->waited = -1; }
#endif

counters counters_before(void) {
	counters c = {0};
	read_system(&c);
	read_waited(&c);
	read_usage(&c);
	return c;
}

counters counters_after(void) {
	counters c = {0};
	read_usage(&c);
	read_waited(&c);
	read_system(&c);
	return c;
}

counters counters_difference(counters after, counters before) {
	counters d = {after.cpu - before.cpu, after.read - before.read, after.fetched - before.fetched,
		after.written - before.written, after.switches - before.switches, after.peak,
		before.waited < 0 || after.waited < 0 ? -1 : after.waited - before.waited};
	return d;
}

void put_counters(sqlite3_str *to, counters c) {
	sqlite3_str_appendf(to, "{\"cpu_ns\":%lld,\"read_bytes\":%lld,\"fetched_bytes\":%lld", c.cpu, c.read, c.fetched);
	sqlite3_str_appendf(to, ",\"written_bytes\":%lld,\"switches\":%lld,\"peak_bytes\":%lld}", c.written, c.switches, c.peak);
}

void put_delay(sqlite3_str *to, counters difference) {
	if (difference.waited >= 0) sqlite3_str_appendf(to, ",\"delayed_ns\":%lld", difference.waited);
}
