//! SQLite: connections, settings, transactions, statements.

use super::data::{Type, Value};
use super::*;
use serde_json::Map;
use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::sync::Condvar;

/// What is done with each row of an answer, as it is stored.
pub type Rows<'a> = Option<&'a mut dyn FnMut(&[Value])>;

/// A driver of SQLite. One thread at a time uses a connection and its statements.
pub trait Driver: Sync {
    type Db: 'static;
    type Statement: 'static;
    type Error: std::fmt::Display;
    const NAME: &'static str;
    /// The crate whose version is the driver's, and the text of Cargo.lock, which has it.
    const CRATE: &'static str;
    const LOCK: &'static str;
    /// The code that opens {{dsn}}, and that runs {{sql}}.
    const OPENS: &'static str;
    const EXECUTES: &'static str;

    /// A connection that commits each statement by itself; the DSN is a URI of SQLite.
    fn open(&self, dsn: &str) -> Result<Self::Db, Self::Error>;
    /// Runs SQL of several statements, whose answers are dropped, in one call.
    fn execute(&self, db: &Self::Db, sql: &str) -> Result<(), Self::Error>;
    fn compile(&self, db: &'static Self::Db, sql: &str) -> Result<Self::Statement, Self::Error>;
    /// Runs a statement, and returns how many rows it returned, or without types
    /// changed. Rows are read by their types, or given to `rows` as they are stored.
    fn run(&self, db: &Self::Db, s: &mut Self::Statement, args: &[Value], types: Option<&[Type]>, rows: Rows) -> Result<i64, Self::Error>;
    /// SQLite's primary result code.
    fn code(&self, error: &Self::Error) -> i32;
    /// Copies a whole database by SQLite's backup API.
    fn copy(&self, from: &Self::Db, to: &mut Self::Db) -> Result<(), Self::Error>;
}

struct Conn<D: Driver> {
    name: String,
    db: &'static D::Db,
    /// By operation and step; the first slot has BEGIN, COMMIT and ROLLBACK.
    statements: Vec<Vec<D::Statement>>,
}

impl<D: Driver> Drop for Conn<D> {
    fn drop(&mut self) {
        self.statements.clear(); // statements borrow the connection
        drop(unsafe { Box::from_raw(self.db as *const D::Db as *mut D::Db) });
    }
}

struct Pool<D: Driver> {
    all: Vec<UnsafeCell<Conn<D>>>,
    free: Mutex<VecDeque<usize>>,
    freed: Condvar,
}

// A connection is used by the client whose own it is, or by the one that has taken it.
unsafe impl<D: Driver> Sync for Pool<D> {}
unsafe impl<D: Driver> Sync for Conn<D> {}

impl<D: Driver> Pool<D> {
    fn new(all: Vec<Conn<D>>) -> Pool<D> {
        let free = Mutex::new((0..all.len()).collect());
        Pool { all: all.into_iter().map(UnsafeCell::new).collect(), free, freed: Condvar::new() }
    }

    /// Runs f on a connection of the client's own, or on the next one that is free.
    fn with<'a, T>(&self, client: &mut Client<'a>, own: bool, f: impl FnOnce(&mut Conn<D>, &mut Client<'a>) -> T) -> T {
        if own {
            return f(unsafe { &mut *self.all[client.number].get() }, client);
        }
        let mut free = self.freed.wait_while(self.free.lock().unwrap(), |free| free.is_empty()).unwrap();
        let i = free.pop_front().unwrap();
        drop(free);
        let result = f(unsafe { &mut *self.all[i].get() }, client);
        self.free.lock().unwrap().push_back(i);
        self.freed.notify_one();
        result
    }
}

/// SQLite through a driver.
pub struct Sql<D: Driver> {
    driver: D,
    readers: Pool<D>,
    writers: Pool<D>,
    slots: usize,
    begin: Option<String>,
    /// The file, where each connection has the same one open.
    file: Option<String>,
    /// A database in memory lives while a connection to it is open.
    keeper: Option<Conn<D>>,
    tables: Option<String>,
}

const FIRST: [&str; 5] = ["busy_timeout", "locking_mode", "page_size", "auto_vacuum", "journal_mode"];
const URI: [(&str, &str); 3] = [("read_only", "mode=ro"), ("immutable", "immutable=1"), ("shared_cache", "cache=shared")];
const BUSY: [i32; 2] = [5, 6];
const READONLY: i32 = 8;
const TABLES: &str = "SELECT count(*) FROM sqlite_schema";

fn quoted(path: &str) -> String {
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"/-._~".contains(b);
    path.bytes().map(|b| if plain(&b) { (b as char).to_string() } else { format!("%{b:02X}") }).collect()
}

/// A value of a PRAGMA: UTF-8 would be a subtraction.
fn spelt(value: &str) -> String {
    let word = value.strip_prefix('-').unwrap_or(value).bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if word && !value.is_empty() { value.into() } else { format!("'{}'", value.replace('\'', "''")) }
}

impl<D: Driver> Sql<D> {
    pub fn new(driver: D) -> Sql<D> {
        Sql { driver, readers: Pool::new(Vec::new()), writers: Pool::new(Vec::new()), slots: 1, begin: None, file: None, keeper: None, tables: None }
    }

    /// All rows of a query, as texts.
    fn query(&self, db: &'static D::Db, sql: &str) -> Result<Vec<Vec<String>>, D::Error> {
        let mut all = Vec::new();
        let mut keep = |row: &[Value]| {
            let as_text = |v: &Value| match v {
                Value::Int(n) => n.to_string(),
                Value::Real(f) => f.to_string(),
                other => String::from_utf8_lossy(other.bytes()).into_owned(),
            };
            all.push(row.iter().map(as_text).collect());
        };
        self.driver.run(db, &mut self.driver.compile(db, sql)?, &[], Some(&[]), Some(&mut keep))?;
        Ok(all)
    }

    fn one(&self, db: &'static D::Db, sql: &str) -> Result<Option<String>, D::Error> {
        Ok(self.query(db, sql)?.into_iter().next().and_then(|row| row.into_iter().next()))
    }

    fn connect(&self, name: &str, dsn: &str, each: &[String]) -> Result<Conn<D>, D::Error> {
        let conn = Conn { name: name.into(), db: Box::leak(Box::new(self.driver.open(dsn)?)), statements: vec![Vec::new()] };
        each.iter().try_for_each(|sql| self.driver.execute(conn.db, sql))?;
        Ok(conn)
    }

    /// The names and the data are the same: readers, then writers.
    fn all(&self) -> impl Iterator<Item = &Conn<D>> {
        self.readers.all.iter().chain(&self.writers.all).map(|conn| unsafe { &*conn.get() })
    }

    fn pool(&self, changes: bool) -> &Pool<D> {
        if changes { &self.writers } else { &self.readers }
    }

    fn begins(&self) -> String {
        format!("BEGIN {}", self.begin.as_deref().unwrap_or("immediate").to_uppercase())
    }

    /// The URI to open, and what is issued for each setting, in order.
    fn source(&self, path: &str, settings: &Map<String, Json>) -> Result<(String, Vec<(String, String)>), Refusal> {
        let (mut issued, mut parameters, mut memory) = (Vec::new(), Vec::new(), false);
        let mut names: Vec<&String> = settings.keys().collect();
        names.sort_by_key(|name| (FIRST.iter().position(|f| f == name).unwrap_or(FIRST.len()), name.as_str()));
        for name in names {
            let value = settings[name].as_str().unwrap_or("");
            ensure(name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), || invalid(format!("{name:?} is no setting")))?;
            let parameter = URI.iter().find(|(setting, _)| setting == name).map(|(_, parameter)| *parameter);
            issued.push((name.clone(), match (name.as_str(), parameter) {
                ("mutex", _) => return Err(unsupported(format!("this worker has no way to set {name}"))),
                ("memory", _) if value == "1" => {
                    memory = true;
                    "vfs=memdb".into()
                }
                (_, Some(parameter)) if value == "1" => {
                    parameters.push(parameter);
                    parameter.into()
                }
                ("memory", _) | (_, Some(_)) => "not in the URI".into(),
                _ => format!("PRAGMA {name} = {}", spelt(value)),
            }));
        }
        ensure(!memory || parameters.is_empty(), || unsupported(format!("memory together with {parameters:?}")))?;
        let uri = match (memory, parameters.is_empty()) {
            (true, _) => format!("file:/assay-{}?vfs=memdb", std::process::id()),
            (_, true) => format!("file:{}", quoted(path)),
            _ => format!("file:{}?{}", quoted(path), parameters.join("&")),
        };
        Ok((uri, issued))
    }

    /// Copies the file into the database in memory.
    fn load(&mut self, path: &str, uri: &str) -> Result<(), D::Error> {
        let source = self.connect("source", &format!("file:{}", quoted(path)), &[])?;
        let mut to = self.driver.open(uri)?;
        self.driver.copy(source.db, &mut to)?;
        self.keeper = Some(Conn { name: "keeper".into(), db: Box::leak(Box::new(to)), statements: Vec::new() });
        self.tables = self.one(source.db, TABLES)?;
        Ok(())
    }

    fn setting(&self, db: &'static D::Db, name: &str) -> Option<String> {
        match name {
            "read_only" => self.read_only(db),
            "begin" => self.read_begin(db),
            "memory" => {
                let own = format!("assay-{}", std::process::id()); // some versions show it
                let of_file = |row: &Vec<String>| row[1] == "main" && !row[2].is_empty() && row[2].trim_start_matches('/') != own;
                if self.query(db, "PRAGMA database_list").ok()?.iter().any(of_file) {
                    return Some("0".into());
                }
                let count = |text: Option<String>| text?.parse::<u64>().ok();
                let shared = count(self.tables.clone()).is_some_and(|there| count(self.one(db, TABLES).ok().flatten()) >= Some(there));
                Some(if shared { "1" } else { "private" }.into())
            }
            "immutable" | "shared_cache" | "mutex" => None,
            _ if !name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') => None,
            _ => self.one(db, &format!("PRAGMA {name}")).ok()?,
        }
    }

    /// What a statement that writes, and changes nothing, is answered in a transaction.
    fn read_only(&self, db: &'static D::Db) -> Option<String> {
        self.driver.execute(db, "BEGIN IMMEDIATE").ok()?; // or another holds the lock
        let written = self.driver.execute(db, "PRAGMA incremental_vacuum(1)");
        let _ = self.driver.execute(db, "ROLLBACK");
        match written {
            Ok(()) => Some("0".into()),
            Err(e) => (self.driver.code(&e) == READONLY).then(|| "1".into()),
        }
    }

    /// How a transaction on the connection begins, by what it keeps another one from.
    fn read_begin(&self, db: &'static D::Db) -> Option<String> {
        let idle = ["PRAGMA busy_timeout = 0", "BEGIN IMMEDIATE", "ROLLBACK"].map(String::from);
        let other = self.connect("other", self.file.as_ref()?, &idle).ok()?;
        self.driver.execute(db, &self.begins()).ok()?;
        let can = |sql: &str| self.driver.execute(other.db, sql).is_ok();
        let found = if can("BEGIN IMMEDIATE") {
            can("ROLLBACK");
            "deferred"
        } else if self.query(other.db, TABLES).is_ok() {
            "immediate"
        } else {
            "exclusive"
        };
        self.driver.execute(db, "ROLLBACK").ok()?;
        Some(found.into())
    }

    fn plan(&self, db: &'static D::Db, o: &Operation) -> String {
        let explain = |s: &Step| self.query(db, &format!("EXPLAIN QUERY PLAN {}", s.sql)).unwrap_or_default();
        let rows = o.steps.iter().filter(|s| !s.script).flat_map(explain);
        rows.filter_map(|row| row.into_iter().nth(3)).collect::<Vec<_>>().join("\n")
    }

    fn compile(&self, o: &Operation) -> Result<(), Refusal> {
        let control = [self.begins(), "COMMIT".into(), "ROLLBACK".into()];
        for conn in &self.pool(o.changes).all {
            let conn = unsafe { &mut *conn.get() };
            let compile = |sql: &String| self.driver.compile(conn.db, sql).map_err(failed);
            if conn.statements[0].is_empty() && o.transaction > 0 {
                conn.statements[0] = control.iter().map(compile).collect::<Result<_, _>>()?;
            }
            // A script has no statement: that of BEGIN holds its place.
            let texts = o.steps.iter().map(|s| if s.script { &control[0] } else { &s.sql });
            conn.statements[o.slot] = texts.map(compile).collect::<Result<_, _>>()?;
        }
        Ok(())
    }

    fn control(&self, conn: &mut Conn<D>, policy: Policy, i: usize) -> Result<i64, D::Error> {
        if policy == Policy::Once {
            return self.driver.run(conn.db, &mut conn.statements[0][i], &[], None, None);
        }
        let sql = [self.begins(), "COMMIT".into(), "ROLLBACK".into()];
        self.driver.run(conn.db, &mut self.driver.compile(conn.db, &sql[i])?, &[], None, None)
    }

    fn fault(&self, error: D::Error, later: bool) -> Fault {
        let busy = BUSY.contains(&self.driver.code(&error));
        Fault { busy, stale: busy && later && self.begin.as_deref() == Some("deferred"), ..error.into() }
    }

    /// Runs the operation at a position.
    fn steps<'a>(&self, conn: &mut Conn<D>, client: &mut Client<'a>, o: &'a Operation, at: u64, later: bool, mut seen: Option<&mut Seen>) -> Result<i64, Fault> {
        let (driver, db, mut all) = (&self.driver, conn.db, 0);
        for (i, step) in o.steps.iter().enumerate() {
            o.args(step, at, &mut client.args);
            if client.null {
                all += std::hint::black_box(step.rows.max(0));
                continue;
            }
            let (types, told, mut wrong) = (step.query.then_some(step.types.as_slice()), step.query && seen.is_some(), Ok(()));
            let mut look = |row: &[Value]| {
                if let (Some(seen), Ok(())) = (&mut seen, &wrong) {
                    wrong = seen.row(o, i, row);
                }
            };
            let rows: Rows = if told { Some(&mut look) } else { None };
            let ran = match o.policy {
                _ if step.script => driver.execute(db, &step.sql).map(|()| 0),
                Policy::Once => driver.run(db, &mut conn.statements[o.slot][i], &client.args, types, rows),
                _ => driver.compile(db, &step.sql).and_then(|mut s| driver.run(db, &mut s, &client.args, types, rows)),
            };
            let fault = |e| self.fault(e, later || i > 0 && o.transaction > 0);
            all += ran.map_err(|e| match fault(e) {
                fault if all > 0 && o.changes && o.transaction == 0 => Fault { busy: false, ..fault }, // it is not to be tried again
                fault => fault,
            })?;
            wrong?;
        }
        Ok(all)
    }
}

impl<D: Driver> Engine for Sql<D> {
    fn hello(&self) -> Reply {
        let conn = self.connect("hello", ":memory:", &[]).map_err(failed)?;
        let one = |sql| self.one(conn.db, sql).map(Option::unwrap_or_default).map_err(failed);
        let options = self.query(conn.db, "PRAGMA compile_options").map_err(failed)?.concat();
        Ok(json!({"type": "hello", "protocol": 1, "capabilities": ["sql", "answers"], "target": {
            "driver": D::NAME, "driver_version": locked(D::LOCK, D::CRATE), "engine": "sqlite", "engine_version": one("SELECT sqlite_version()")?,
            "compile_options": options, "facts": {"api": D::CRATE, "source_id": one("SELECT sqlite_source_id()")?, "clients": "threads",
                "uncounted": "allocs, alloc_bytes: those of SQLite", "open": D::OPENS, "execute": D::EXECUTES}}}))
    }

    fn open(&mut self, r: &Json) -> Reply {
        let (path, asked, mut settings) = (text(r, "path"), text(r, "dsn"), r["settings"].as_object().cloned().unwrap_or_default());
        self.begin = settings.remove("begin").and_then(|v| v.as_str().map(String::from));
        if !asked.is_empty() {
            settings.clear();
        }
        let (uri, issued) = self.source(path, &settings)?;
        let dsn = if asked.is_empty() { uri } else { asked.into() };
        let mut each: Vec<String> = issued.iter().map(|(_, sql)| sql.clone()).filter(|sql| sql.starts_with("PRAGMA")).collect();
        each.extend(texts(r, "each"));
        let memory = settings.get("memory").is_some_and(|v| v == "1");
        if memory {
            self.load(path, &dsn).map_err(failed)?;
        }
        self.file = (!memory && dsn.contains(&quoted(path)) && !path.is_empty()).then(|| format!("file:{}", quoted(path)));
        let connect = |kind: &str, n: u64| -> Result<Pool<D>, Refusal> {
            let all = (1..=n).map(|i| self.connect(&format!("{kind}-{i}"), &dsn, &each).map_err(failed));
            Ok(Pool::new(all.collect::<Result<_, _>>()?))
        };
        let (readers, writers) = (connect("reader", count(r, "readers")?)?, connect("writer", count(r, "writers")?)?);
        let first = writers.all.first().or(readers.all.first()).map(|conn| unsafe { &*conn.get() }.db);
        for sql in texts(r, "once") {
            self.driver.execute(first.unwrap(), &sql).map_err(failed)?;
        }
        (self.readers, self.writers) = (readers, writers);
        let mut issued: Map<String, Json> = issued.into_iter().map(|(name, sql)| (name, json!(sql))).collect();
        if self.begin.is_some() {
            issued.insert("begin".into(), json!(self.begins()));
        }
        Ok(json!({"dsn": dsn, "each": each, "issued": issued}))
    }

    fn settings(&self, names: &[String]) -> Json {
        let read = |conn: &Conn<D>| -> Map<String, Json> {
            names.iter().filter_map(|name| Some((name.clone(), json!(self.setting(conn.db, name)?)))).collect()
        };
        self.all().map(|conn| json!({"name": conn.name, "settings": read(conn)})).collect()
    }

    fn prepare(&mut self, o: &mut Operation) -> Result<String, Refusal> {
        ensure(o.steps.iter().all(|s| !s.sql.is_empty()), || unsupported("this worker executes SQL only"))?;
        ensure(o.changes || o.transaction == 0, || unsupported("transactions of operations that change nothing"))?;
        ensure(!self.pool(o.changes).all.is_empty(), || invalid("no connection of the operation's kind is open"))?;
        o.slot = self.slots;
        self.slots += 1;
        for conn in self.readers.all.iter_mut().chain(&mut self.writers.all) {
            conn.get_mut().statements.resize_with(self.slots, Vec::new);
        }
        self.compile(o)?;
        Ok(self.plan(unsafe { &*self.pool(o.changes).all[0].get() }.db, o))
    }

    fn run<'a>(&self, client: &mut Client<'a>, o: &'a Operation, at: u64, mut seen: Option<&mut Seen>) -> Result<i64, Fault> {
        let pool = self.pool(o.changes);
        let (n, clients) = (pool.all.len() as u64, client.clients);
        let own = if o.changes { clients == 1 && n == 1 } else { clients <= n };
        let (alone, null) = (client.alone, client.null);
        pool.with(client, own, |conn, client| {
            if o.transaction == 0 || alone || null {
                let mut rows = 0;
                for p in at..at + if alone { 1 } else { o.size() } {
                    rows += self.steps(conn, client, o, p, false, seen.as_deref_mut())?;
                }
                return Ok(rows);
            }
            self.control(conn, o.policy, 0).map_err(|e| self.fault(e, false))?;
            let mut rows = Ok(0);
            for p in at..at + o.transaction {
                rows = rows.and_then(|n| Ok(n + self.steps(conn, client, o, p, p > at, None)?));
            }
            let done = rows.and_then(|n| self.control(conn, o.policy, 1).map(|_| n).map_err(|e| self.fault(e, false)));
            if done.is_err() {
                let _ = self.control(conn, o.policy, 2);
            }
            done
        })
    }

    fn rows(&self, r: &Json, row: &mut dyn FnMut(&[Value])) -> Result<(), Refusal> {
        ensure(!text(r, "sql").is_empty(), || unsupported("this worker is of no store: verify wants an operation or sql"))?;
        let db = self.all().next().unwrap().db;
        let ran = self.driver.compile(db, text(r, "sql")).and_then(|mut s| self.driver.run(db, &mut s, &[], Some(&[]), Some(row)));
        ran.map(|_| ()).map_err(failed)
    }

    fn close(&mut self) {
        (self.readers, self.writers) = (Pool::new(Vec::new()), Pool::new(Vec::new()));
        self.keeper = None;
    }
}
