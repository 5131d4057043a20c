//! Clients that draw units from one counter, and what the process uses meanwhile.

use super::data::Histogram;
use serde_json::{Value as Json, json};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A measurement as it was asked for, in units.
#[derive(Clone, Copy)]
pub struct Want {
    pub clients: u64,
    pub nanos: u64,
    pub units: u64,
    pub batch: u64,
    pub latency: bool,
    pub retry: bool,
}

/// Why a unit was not right: an error, or another number of rows than expected.
#[derive(Default)]
pub struct Fault {
    pub busy: bool,
    /// The step was not the transaction's first, and the transaction began deferred.
    pub stale: bool,
    pub miss: bool,
    pub text: String,
}

impl<T: std::fmt::Display> From<T> for Fault {
    fn from(error: T) -> Fault {
        Fault { text: error.to_string(), ..Fault::default() }
    }
}

/// What clients have done, in units.
#[derive(Default)]
pub struct Tally {
    pub right: f64,
    pub executed: u64,
    /// Errors and misses, with the first of each.
    pub wrong: [(u64, String); 2],
    pub busy: u64,
    pub stale: u64,
    pub nanos: u64,
    pub began: u64,
    pub delayed: Option<u64>,
    pub histogram: Option<Histogram>,
    /// Of the last draw: when it began and ended, and its right units.
    last: (u64, u64, u64),
    exit: u64,
}

const GIVE_UP: u64 = 1000;
const LEAST_UNITS: u64 = 10;
const PATIENCE: Duration = Duration::from_secs(10);

struct Race {
    want: Want,
    zero: Instant,
    ready: AtomicU64,
    began: AtomicU64,
    unix: AtomicU64,
    next: AtomicU64,
    wrong: AtomicU64,
}

impl Race {
    fn now(&self) -> u64 {
        self.zero.elapsed().as_nanos() as u64
    }

    /// Waits until every client is ready: the last one starts the clock.
    fn begin(&self) -> u64 {
        if self.ready.fetch_add(1, SeqCst) + 1 == self.want.clients {
            let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            self.unix.store(unix.as_nanos() as u64, SeqCst);
            self.began.store(self.now().max(1), SeqCst);
        }
        loop {
            match self.began.load(SeqCst) {
                0 => std::thread::yield_now(),
                began => return began,
            }
        }
    }

    /// What a client notes, made before anything is counted.
    fn tally(&self) -> Tally {
        Tally { histogram: self.want.latency.then(Histogram::new), ..Tally::default() }
    }

    /// One client's loop. The unit is given its number, counted from the start.
    fn client(&self, mut tally: Tally, unit: &mut dyn FnMut(u64) -> Result<(), Fault>) -> Tally {
        let want = self.want;
        let began = self.begin();
        let (mut last, mut executed, mut done, batch) = (began, 0, 0, want.batch.max(1));
        loop {
            let from = self.next.fetch_add(batch, Relaxed);
            let over = if want.units > 0 { from >= want.units } else { last - began >= want.nanos && from >= LEAST_UNITS * want.clients };
            if over || self.wrong.load(Relaxed) >= GIVE_UP {
                break;
            }
            let n = if want.units > 0 { batch.min(want.units - from) } else { batch };
            let mut right = n;
            for u in from..from + n {
                if let Err(fault) = unit(u) {
                    right -= self.trouble(&mut tally, fault, || unit(u));
                }
            }
            let now = self.now();
            if let (Some(h), true) = (&mut tally.histogram, right == n) {
                h.add((now - last) / n, n);
            }
            executed += n;
            done += right;
            (tally.last, last) = ((last, now, right), now);
        }
        (tally.executed, tally.right) = (executed, done as f64);
        tally.exit = if want.clients > 1 { self.now() } else { last };
        tally
    }

    /// Tries a busy unit again where that is asked for; how many units were wrong at last.
    fn trouble(&self, tally: &mut Tally, mut fault: Fault, mut again: impl FnMut() -> Result<(), Fault>) -> u64 {
        let began = Instant::now();
        while fault.busy {
            tally.busy += 1;
            tally.stale += fault.stale as u64;
            if !self.want.retry || began.elapsed() > PATIENCE {
                break;
            }
            match again() {
                Ok(()) => return 0,
                Err(another) => fault = another,
            }
        }
        self.wrong.fetch_add(1, Relaxed);
        let (count, first) = &mut tally.wrong[fault.miss as usize];
        *count += 1;
        if first.is_empty() {
            *first = fault.text;
        }
        1
    }
}

/// Runs the clients, of which `make` makes the units, and returns what they did
/// together and what the process used meanwhile.
pub fn measure<'a, U>(want: Want, make: &(dyn Fn(usize) -> U + Sync)) -> (Tally, Counters)
where
    U: FnMut(u64) -> Result<(), Fault> + 'a,
{
    let n = || AtomicU64::new(0);
    let race = Race { want, zero: Instant::now(), ready: n(), began: n(), unix: n(), next: n(), wrong: n() };
    let (tallies, used, delayed) = if want.clients == 1 {
        // On the thread that lives as long as the worker: the system forgets what
        // threads that have ended waited for.
        let (mut unit, tally) = (make(0), race.tally());
        let (waited, before) = (delay(), Counters::before());
        let tally = race.client(tally, &mut unit);
        let used = Counters::after().since(&before);
        (vec![tally], used, delay().zip(waited).map(|(after, before)| after - before))
    } else {
        let (tallies, used) = together(&race, make);
        (tallies, used, None)
    };
    let (end, began) = (tallies.iter().map(|t| t.exit).min().unwrap_or(0), race.began.into_inner());
    let mut sum = Tally { nanos: end - began, began: race.unix.into_inner(), delayed, ..Tally::default() };
    for t in tallies {
        let (from, to, right) = t.last;
        let late = if to > end { right as f64 * (to - end.max(from)) as f64 / (to - from) as f64 } else { 0.0 };
        sum.right += t.right - late;
        sum.executed += t.executed;
        sum.busy += t.busy;
        sum.stale += t.stale;
        for (all, (count, first)) in sum.wrong.iter_mut().zip(t.wrong) {
            all.0 += count;
            all.1 = if all.1.is_empty() { first } else { std::mem::take(&mut all.1) };
        }
        match (&mut sum.histogram, t.histogram) {
            (Some(all), Some(one)) => all.merge(&one),
            (all, one) => *all = one,
        }
    }
    (sum, used)
}

/// Runs several clients, each on a thread of its own, which is there before the
/// counters are read and until they are read again.
fn together<'a, U>(race: &Race, make: &(dyn Fn(usize) -> U + Sync)) -> (Vec<Tally>, Counters)
where
    U: FnMut(u64) -> Result<(), Fault> + 'a,
{
    let gate = &Barrier::new(race.want.clients as usize + 1);
    std::thread::scope(|scope| {
        let start = |c: usize| {
            scope.spawn(move || {
                let (mut unit, tally) = (make(c), race.tally());
                gate.wait();
                gate.wait();
                let tally = race.client(tally, &mut unit);
                gate.wait();
                gate.wait();
                tally
            })
        };
        let clients: Vec<_> = (0..race.want.clients as usize).map(start).collect();
        gate.wait();
        let before = Counters::before();
        gate.wait();
        gate.wait();
        let used = Counters::after().since(&before);
        gate.wait();
        (clients.into_iter().map(|c| c.join().unwrap()).collect(), used)
    })
}

static ALLOCS: AtomicU64 = AtomicU64::new(0);
static ALLOC_BYTES: AtomicU64 = AtomicU64::new(0);
static OWN_READS: AtomicU64 = AtomicU64::new(0);

/// Counts what Rust allocates; what an engine allocates in C is not in it.
struct Counting;

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_allocation(layout.size());
        unsafe { System.alloc(layout) }
    }
    // What is not forwarded, the trait makes of alloc: it copies, and fills with zeros.
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count_allocation(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count_allocation(size);
        unsafe { System.realloc(at, layout, size) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        unsafe { System.dealloc(at, layout) }
    }
}

fn count_allocation(size: usize) {
    ALLOCS.fetch_add(1, Relaxed);
    ALLOC_BYTES.fetch_add(size as u64, Relaxed);
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// What the process has used so far, by the protocol's names.
#[derive(Clone, Copy, Default)]
pub struct Counters([u64; 7]);

const NAMES: [&str; 7] = ["cpu_ns", "allocs", "alloc_bytes", "switches", "read_bytes", "fetched_bytes", "written_bytes"];

impl Counters {
    /// Reads the file first: what that takes is no part of what follows.
    pub fn before() -> Counters {
        let io = io();
        Counters::rest(io)
    }

    pub fn after() -> Counters {
        let Counters(mut counts) = Counters::rest([0; 3]);
        counts[4..].copy_from_slice(&io());
        Counters(counts)
    }

    fn rest(io: [u64; 3]) -> Counters {
        let usage = usage();
        let ns = |t: libc::timeval| t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1000;
        let (cpu, switches) = (ns(usage.ru_utime) + ns(usage.ru_stime), (usage.ru_nvcsw + usage.ru_nivcsw) as u64);
        Counters([cpu, ALLOCS.load(Relaxed), ALLOC_BYTES.load(Relaxed), switches, io[0], io[1], io[2]])
    }

    pub fn since(&self, before: &Counters) -> Counters {
        Counters(std::array::from_fn(|i| self.0[i] - before.0[i]))
    }

    pub fn json(&self) -> Json {
        let mut all = json!({"peak_bytes": peak()});
        NAMES.iter().zip(self.0).for_each(|(name, n)| all[*name] = json!(n));
        all
    }
}

fn usage() -> libc::rusage {
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
    usage
}

/// The lines of a file of /proc that begin with these words, as numbers.
fn proc<const N: usize>(path: &str, words: [&str; N]) -> Option<[u64; N]> {
    let text = std::fs::read_to_string(path).ok()?;
    OWN_READS.fetch_add(text.len() as u64, Relaxed);
    let number = |word| text.lines().find_map(|l| l.strip_prefix(word)?.split_whitespace().next()?.parse().ok());
    Some(words.map(|word| number(word).unwrap_or(0)))
}

fn io() -> [u64; 3] {
    let own = OWN_READS.load(Relaxed); // the file does not show yet what reading it adds
    let [read, fetched, written] = proc("/proc/self/io", ["rchar:", "read_bytes:", "write_bytes:"]).unwrap_or_default();
    [read.saturating_sub(own), fetched, written]
}

fn peak() -> u64 {
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    proc("/proc/self/status", ["VmHWM:"]).map_or_else(|| usage().ru_maxrss as u64 * unit, |[kib]| kib * 1024)
}

/// How long this thread was ready to run and waited for a processor.
fn delay() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    OWN_READS.fetch_add(text.len() as u64, Relaxed);
    text.split_whitespace().nth(1)?.parse().ok()
}
