//! The protocol of workers (docs/protocol.md) in Rust, apart from the engine. A driver of
//! SQLite implements `sql::Driver`, one of a key-value store `store::Store`. What may not be
//! asked, assay refuses itself.

#![allow(dead_code)] // of each worker, what the other kind needs

#[path = "assay_data.rs"]
pub mod data;
#[path = "assay_measure.rs"]
mod measure;
#[path = "assay_sql.rs"]
pub mod sql;
#[path = "assay_store.rs"]
pub mod store;

use data::{Kind, Rows, Trace, Value};
use measure::{Counters, Tally, Want};
pub use measure::Fault;
use serde_json::{Value as Json, json};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, Write};
use std::sync::Mutex;
use std::time::Instant;

/// Why a request was refused: the code and the message.
pub struct Refusal(&'static str, String);
pub type Reply = Result<Json, Refusal>;

fn unsupported(text: impl Into<String>) -> Refusal {
    Refusal("unsupported", text.into())
}

fn failed(error: impl std::fmt::Display) -> Refusal {
    Refusal("failed", Some(error.to_string()).filter(|t| !t.is_empty()).unwrap_or("failed without a word".into()))
}

fn ensure(condition: bool, otherwise: impl FnOnce() -> Refusal) -> Result<(), Refusal> {
    if condition { Ok(()) } else { Err(otherwise()) }
}

fn int(j: &Json, key: &str) -> i64 {
    j[key].as_i64().unwrap_or(0)
}

fn count(j: &Json, key: &str) -> u64 {
    int(j, key) as u64
}

fn text<'a>(j: &'a Json, key: &str) -> &'a str {
    j[key].as_str().unwrap_or("")
}

fn flag(j: &Json, key: &str) -> bool {
    j[key].as_bool().unwrap_or(false)
}

fn list<'a>(j: &'a Json, key: &str) -> &'a [Json] {
    j[key].as_array().map_or(&[], |l| l)
}

fn texts(j: &Json, key: &str) -> Vec<String> {
    list(j, key).iter().filter_map(|t| t.as_str().map(String::from)).collect()
}

/// The file to which a request has something written behind what is there; that of rows is
/// there already.
fn file(j: &Json, key: &str) -> Result<Option<File>, Refusal> {
    let path = Some(text(j, key)).filter(|path| !path.is_empty());
    path.map(|path| File::options().append(true).create(key != "rows").open(path)).transpose().map_err(failed)
}

/// The name of the worker, which Cargo.toml has behind "worker-".
const NAME: &str = env!("CARGO_PKG_NAME").split_at("worker-".len()).1;

/// The version of a crate, by Cargo.lock.
fn locked(name: &str) -> String {
    let entry = format!("name = \"{name}\"\nversion = \"");
    let found = include_str!("Cargo.lock").split(&entry).nth(1).and_then(|rest| rest.split('"').next());
    found.unwrap_or_else(|| panic!("Cargo.lock has no crate {name}, which CRATE in main.rs names")).into()
}

#[derive(Clone, Copy, PartialEq)]
pub enum Policy {
    Once,
    Each,
    Never,
}

pub struct Step {
    sql: String,
    script: bool,
    kv: String,
    fields: usize,
    field: usize,
    query: bool,
    /// The first column of its arguments, and their number.
    first: usize,
    args: usize,
    rows: i64,
    types: Vec<Kind>,
}

/// An operation, or a part of a mix.
pub struct Operation {
    name: String,
    steps: Vec<Step>,
    trace: Option<Trace>,
    changes: bool,
    policy: Policy,
    transaction: u64,
    retry: bool,
    parts: Vec<Operation>,
    clients: u64,
    /// Where each connection keeps the operation's statements.
    slot: usize,
    /// What its loop takes, by batch and latency.
    loops: Mutex<HashMap<(u64, bool), f64>>,
}

impl Operation {
    fn parse(j: &Json) -> Result<Operation, Refusal> {
        let (mut steps, mut first) = (Vec::new(), 0);
        for s in list(j, "steps") {
            let (args, types) = (count(s, "args") as usize, texts(s, "returns").iter().map(|t| Kind::parse(t)).collect());
            steps.push(Step {
                sql: text(s, "sql").into(), script: flag(s, "script"), kv: text(s, "kv").into(), fields: count(s, "fields") as usize,
                field: count(s, "field") as usize, query: flag(s, "query"), first, args, rows: int(s, "rows"), types,
            });
            first += args;
        }
        let trace = Some(text(j, "trace")).filter(|path| !path.is_empty()).map(Trace::read).transpose().map_err(failed)?;
        let policy = match text(j, "statement") {
            "each" => Policy::Each,
            "never" => Policy::Never,
            _ => Policy::Once,
        };
        Ok(Operation {
            name: text(j, "name").into(), steps, trace, changes: flag(j, "changes"), policy, transaction: count(j, "transaction"),
            retry: flag(j, "retry_busy"), parts: list(j, "parts").iter().map(Operation::parse).collect::<Result<_, _>>()?,
            clients: 1, slot: 0, loops: Mutex::default(),
        })
    }

    fn positions(&self) -> u64 {
        self.trace.as_ref().map_or(1, |t| t.rows)
    }

    fn size(&self) -> u64 {
        self.transaction.max(1)
    }

    /// How many units there are before the first one follows again.
    fn units(&self) -> u64 {
        self.trace.as_ref().map_or(1, |t| t.rows / self.size())
    }

    /// The part and the position in a row of a mix.
    fn drawn(&self, row: u64) -> Option<(usize, u64)> {
        match self.trace.as_ref().map(|t| (t.value(0, row), t.value(1, row))) {
            Some((Value::Int(p), Value::Int(at))) => Some((usize::try_from(p).ok()?, u64::try_from(at).ok()?)),
            _ => None,
        }
    }

    fn args<'a>(&'a self, step: &Step, position: u64, into: &mut Vec<Value<'a>>) {
        into.clear();
        if let Some(trace) = &self.trace {
            into.extend((step.first..step.first + step.args).map(|c| trace.value(c, position % trace.rows)));
        }
    }

    /// The rows of a right unit; below zero where any number is right.
    fn expected(&self) -> i64 {
        let any = self.steps.iter().any(|s| s.rows < 0);
        if any { -1 } else { self.steps.iter().map(|s| s.rows).sum::<i64>() * self.size() as i64 }
    }
}

/// One client, with the memory that it uses again.
pub struct Client<'a> {
    number: usize,
    clients: u64,
    args: Vec<Value<'a>>,
    value: Vec<u8>,
    /// Operations run without their transaction.
    alone: bool,
    /// Statements do nothing, and return what is expected.
    null: bool,
}

impl<'a> Client<'a> {
    fn new(number: usize, clients: u64) -> Client<'a> {
        Client { number, clients, args: Vec::with_capacity(64), value: Vec::with_capacity(1 << 16), alone: false, null: false }
    }

    /// Runs one unit of an operation or a mix, looks at its rows, and tells those that it reads.
    fn unit<E: Engine>(&mut self, engine: &E, o: &'a Operation, unit: u64, told: Option<&File>) -> Result<(), Fault> {
        let unit = unit % o.units();
        let (mut o, mut at, mut part) = (o, unit * o.size(), 0);
        if !o.parts.is_empty() {
            (part, at) = o.drawn(at).unwrap_or_default();
            o = &o.parts[part];
        }
        let told = told.filter(|_| !o.changes);
        let mut seen = told.map(|_| Rows::default());
        let (rows, want) = (engine.run(self, o, at, seen.as_mut())?, o.expected());
        if rows != want && want >= 0 {
            return Err(Fault { miss: true, ..format!("{rows} rows, expected are {want}").into() });
        }
        if let (Some(file), Some(mut seen)) = (told, seen) {
            seen.write(unit, part, file)?;
        }
        Ok(())
    }
}

/// What a kind of database does. A refusal of `prepare` leaves nothing behind.
pub trait Engine: Sync {
    /// The fields of hello.
    fn hello(&self) -> Reply;
    fn open(&mut self, request: &Json) -> Reply;
    /// The connections with their settings.
    fn settings(&self, _names: &[String]) -> Reply {
        Err(unsupported("assay reads settings back by queries"))
    }
    /// Does what assay wants with a connection, and visits the rows of SQL as they are stored.
    fn query(&mut self, _request: &Json, _row: &mut dyn FnMut(&[Value])) -> Result<(), Refusal> {
        Err(unsupported("this worker runs no SQL"))
    }
    /// Prepares an operation without parts, and returns its plan.
    fn prepare(&mut self, o: &mut Operation) -> Result<String, Refusal>;
    /// Runs one unit from a position on, and returns its rows.
    fn run<'a>(&self, client: &mut Client<'a>, o: &'a Operation, at: u64, seen: Option<&mut Rows>) -> Result<i64, Fault>;
    /// Answers `verify` of all.
    fn rows(&self, _request: &Json, _row: &mut dyn FnMut(&[Value])) -> Result<(), Refusal> {
        Err(unsupported("this worker is of no store"))
    }
    fn load(&mut self, _records: &Trace) -> Result<(), Refusal> {
        Err(unsupported("this worker is of no store"))
    }
    /// Looks for damage by the engine's own check, and returns its name.
    fn check(&mut self) -> Result<&'static str, Refusal> {
        Err(unsupported("this worker has no check of its engine's own"))
    }
    fn close(&mut self);
}

struct Worker<E> {
    engine: E,
    operations: HashMap<String, Operation>,
}

impl<E: Engine> Worker<E> {
    fn open(&mut self, r: &Json) -> Reply {
        let keeps = !flag(r, "lazy") && int(r, "idle") >= int(r, "readers");
        ensure(keeps, || unsupported("this worker keeps all of its connections open"))?;
        self.engine.open(r)
    }

    fn prepare(&mut self, r: &Json) -> Reply {
        let mut o = Operation::parse(&r["operation"])?;
        o.clients = count(r, "clients");
        let mut plan = String::new();
        if o.parts.is_empty() {
            plan = self.engine.prepare(&mut o)?;
        }
        for part in &mut o.parts {
            let own = self.engine.prepare(part)?;
            plan += &format!("{}: {own}\n", part.name);
        }
        self.operations.insert(o.name.clone(), o);
        Ok(json!({"query_plan": plan}))
    }

    fn measure(&self, r: &Json) -> Reply {
        let (o, engine) = (&self.operations[text(r, "operation")], &self.engine);
        let (start, operations, nanos, k) = (count(r, "start"), count(r, "operations"), count(r, "nanos"), o.size());
        let (marks, told) = (file(r, "marks")?, file(r, "rows")?);
        let want = Want { clients: o.clients, nanos, units: operations / k, batch: count(r, "batch"), latency: flag(r, "latency"), retry: o.retry };
        let (tally, used) = measure::measure(want, &|number| {
            let (mut client, mut marks, told) = (Client::new(number, o.clients), marks.as_ref(), told.as_ref());
            move |u| {
                client.unit(engine, o, start / k + u, told)?;
                Ok(marks.as_mut().map_or(Ok(()), |file| file.write_all(b"."))?)
            }
        });
        let mut body = measured(tally, k, used);
        if told.is_none() {
            body["loop_ns"] = json!(self.loop_ns(o, want));
        }
        Ok(body)
    }

    /// What the loop itself takes for one operation: the same with statements that do
    /// nothing. The shortest of many laps counts, since short ones are seldom interrupted.
    fn loop_ns(&self, o: &Operation, want: Want) -> f64 {
        const UNITS: u64 = 200;
        let units = UNITS.div_ceil(o.size());
        let lap = |_| {
            let want = Want { clients: 1, nanos: 0, units, ..want };
            let (tally, _) = measure::measure(want, &|_| {
                let mut client = Client { null: true, ..Client::new(0, o.clients) };
                move |u| client.unit(&self.engine, o, u, None)
            });
            tally.nanos as f64 / (units * o.size()) as f64
        };
        *o.loops.lock().unwrap().entry((want.batch, want.latency)).or_insert_with(|| (0..40).map(lap).fold(f64::INFINITY, f64::min))
    }

    fn verify(&self, r: &Json) -> Reply {
        let mut rows = Rows::into_file(file(r, "rows")?);
        if let Some(o) = self.operations.get(text(r, "operation")) {
            let (start, n) = (count(r, "start"), count(r, "count"));
            let mut client = Client { alone: true, ..Client::new(0, 1) };
            for p in start..start + n {
                self.engine.run(&mut client, o, p % o.positions(), Some(&mut rows)).map_err(|fault| failed(fault.text))?;
            }
        } else {
            self.engine.rows(r, &mut |row| rows.add(0, row))?;
        }
        rows.finish().map_err(failed)?;
        Ok(json!({}))
    }

    fn answer(&mut self, r: &Json) -> Reply {
        match text(r, "type") {
            "open" => self.open(r),
            "settings" => Ok(json!({"connections": self.engine.settings(&texts(r, "names"))?})),
            "query" => {
                let mut rows = Rows::into_file(file(r, "rows")?);
                self.engine.query(r, &mut |row| rows.add(0, row))?;
                rows.finish().map_err(failed)?;
                Ok(json!({}))
            }
            "prepare" => self.prepare(r),
            "measure" => self.measure(r),
            "verify" => self.verify(r),
            "load" => {
                let records = Trace::read(text(r, "records")).map_err(failed)?;
                self.engine.load(&records)?;
                Ok(json!({"records": records.rows}))
            }
            "check" => Ok(json!({"name": self.engine.check()?})),
            "stats" => Ok(Counters::after().json()),
            "close" => {
                let began = Instant::now();
                self.engine.close();
                Ok(json!({"nanos": began.elapsed().as_nanos() as u64}))
            }
            other => Err(unsupported(format!("this worker does not know the request {other:?}"))),
        }
    }
}

fn measured(tally: Tally, k: u64, used: Counters) -> Json {
    let [(errors, error), (misses, miss)] = tally.wrong;
    json!({"operations": (tally.right * k as f64).round() as u64, "nanos": tally.nanos, "began_ns": tally.began,
        "executed": tally.executed * k, "errors": errors, "error": error, "misses": misses, "miss": miss, "busy": tally.busy,
        "stale": tally.stale, "counters": used.json(), "delayed_ns": tally.delayed, "histogram": tally.histogram.map(|h| h.pairs())})
}

/// Speaks the protocol until `close` or the end of the input; returns the exit status.
pub fn serve(engine: impl Engine) -> i32 {
    let mut out = std::io::stdout().lock();
    let mut say = |line: Json| writeln!(out, "{line}").and_then(|()| out.flush()).is_ok();
    match engine.hello() {
        Ok(hello) => say(hello),
        Err(Refusal(_, message)) => {
            eprintln!("{message}");
            return 1;
        }
    };
    let mut worker = Worker { engine, operations: HashMap::new() };
    let (mut input, mut line) = (std::io::stdin().lock(), Vec::new());
    loop {
        line.clear();
        if !matches!(input.read_until(b'\n', &mut line), Ok(n) if n > 0) {
            return 0;
        }
        let Some(request) = serde_json::from_slice::<Json>(&line).ok().filter(|r| int(r, "id") > 0) else {
            return 1;
        };
        let id = &request["id"];
        let said = say(match worker.answer(&request) {
            Ok(body) => json!({"type": "ok", "id": id, "body": body}),
            Err(Refusal(code, message)) => json!({"type": "error", "id": id, "code": code, "definite": code != "failed", "message": message}),
        });
        if !said || text(&request, "type") == "close" {
            return 0;
        }
    }
}
