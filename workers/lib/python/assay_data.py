"""What travels beside the protocol's lines: column files, rows, histograms, counters."""

import collections
import contextlib
import mmap
import os
import resource
import struct
import threading
import time


class Refusal(Exception):
    """An error reply."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Columns:
    """A column file, mapped. It has a function for each column, from row to value."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        count, self.rows = struct.unpack_from("<IQ", data, 12)
        heads = [struct.unpack_from("<IIQQQ", data, 24 + 32 * i) for i in range(count)]
        self._names = {"data": data}  # what the expressions use
        self._values = [self._value(i, *head) for i, head in enumerate(heads)]
        self.columns = [self._function(value) for value in self._values]

    def _value(self, i, kind, flags, nulls, values, content):
        """The expression of a column's value in a row."""
        numbers = memoryview(self._names["data"])[values : values + 8 * (self.rows + (kind in (3, 4)))]
        expressions = {
            1: f"c{i}[row]",
            2: f"c{i}[row]",
            3: f"data[{content} + c{i}[row] : {content} + c{i}[row + 1]].decode()",
            4: f"data[{content} + c{i}[row] : {content} + c{i}[row + 1]]",
            5: f"c{i}[row] != 0",
        }
        self._names[f"c{i}"] = numbers.cast("d" if kind == 2 else "q")
        null = f"None if data[{nulls} + (row >> 3)] >> (row & 7) & 1 else " if flags & 1 else ""
        return null + expressions[kind]

    def _function(self, expression):
        return eval(f"lambda row: {expression}", self._names)

    def arguments(self, first, count):
        """A function from row to the arguments in these columns. It is one expression:
        a call for each column took as long as some drivers take for a row."""
        return self._function(f"({''.join(f'{value}, ' for value in self._values[first : first + count])})")


class Rows(contextlib.AbstractContextManager):
    """A file of rows as they are stored, which is there already."""

    def __init__(self, path):
        self.file, self.lock = open(path, "r+b"), threading.Lock()

    def __exit__(self, *_error):
        self.file.close()

    def unit(self, number, part, answers):
        """Writes the rows of a unit's steps: clients share the file."""
        with self.lock:
            self.file.write(struct.pack("<QII", number, part, row_count(answers)))
            for step, rows in answers:
                for row in rows:
                    self.file.write(b"".join([struct.pack("<II", step, len(row)), *map(stored, row)]))
            self.file.flush()


def row_count(answers):
    """The number of rows of all steps."""
    return sum(len(rows) for _, rows in answers)


def stored(value):
    if value is None:
        return b"\0"
    if isinstance(value, int):
        return struct.pack("<Bq", 1, value)
    if isinstance(value, float):
        return struct.pack("<Bd", 2, value)
    content = value.encode() if isinstance(value, str) else bytes(value)
    return struct.pack("<BI", 3 if isinstance(value, str) else 4, len(content)) + content


class Histogram:
    """Counts of latencies in buckets of fixed bounds."""

    MAX = (1 << 41) - 1

    def __init__(self):
        self.counts = collections.defaultdict(int)

    def record(self, nanos):
        shift = nanos.bit_length() - 8
        bound = nanos if shift <= 0 else ((nanos >> shift) + 1 << shift) - 1
        self.counts[bound] += 1

    def merge(self, other):
        for bound, count in other.counts.items():
            self.counts[min(bound, self.MAX)] += count

    def buckets(self):
        return sorted(self.counts.items())


UNCOUNTED = "allocs, alloc_bytes: Python does not count them"


own_reads = 0  # bytes of /proc that were read so far


def counters():
    """What the process used so far. What reading it takes is left out: of the bytes
    read, and of the time by its order, here last and in `since` first."""
    return _system() | {"cpu_ns": time.process_time_ns()}


def since(before):
    """What was used since."""
    cpu = time.process_time_ns()
    after = _system() | {"cpu_ns": cpu}
    return {name: after[name] if name == "peak_bytes" else after[name] - before[name] for name in after}


def _system():
    usage, status = resource.getrusage(resource.RUSAGE_SELF), _proc("status")
    reads = own_reads  # before the other file: what reading it adds, it does not show yet
    used = _proc("io")
    return {
        "read_bytes": used.get("rchar", reads) - reads,
        "fetched_bytes": used.get("read_bytes", 0),
        "written_bytes": used.get("write_bytes", 0),
        "switches": usage.ru_nvcsw + usage.ru_nivcsw,
        "peak_bytes": status.get("VmHWM", 0) * 1024 or usage.ru_maxrss * (1 if os.uname().sysname == "Darwin" else 1024),
    }


def _proc(name):
    global own_reads
    numbers = {}
    try:
        with open(f"/proc/self/{name}", "rb", buffering=0) as file:
            text = file.read()
    except OSError:
        return numbers  # no Linux
    own_reads += len(text)
    for line in text.splitlines():
        key, _, value = line.partition(b":")
        first = value.split()[:1]
        if first and first[0].isdigit():
            numbers[key.decode()] = int(first[0])
    return numbers
