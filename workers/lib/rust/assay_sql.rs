//! SQLite: connections, settings, transactions, statements.

use super::data::{Kind, Value};
use super::*;
use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::sync::Condvar;

/// What is done with each row of an answer, as it is stored.
pub type Visit<'a> = Option<&'a mut dyn FnMut(&[Value])>;

/// A driver of SQLite. One thread at a time uses a connection and its statements.
pub trait Driver: Sync {
    type Db: 'static;
    type Statement: 'static;
    type Error: std::fmt::Display;
    /// The crate whose version is the driver's.
    const CRATE: &'static str;
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
    fn run(&self, db: &Self::Db, s: &mut Self::Statement, args: &[Value], types: Option<&[Kind]>, rows: Visit) -> Result<i64, Self::Error>;
    /// SQLite's primary result code.
    fn code(&self, error: &Self::Error) -> i32;
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
    /// Those that were opened for queries of assay.
    others: Vec<Conn<D>>,
}

const BUSY: [i32; 2] = [5, 6];

impl<D: Driver> Sql<D> {
    pub fn new(driver: D) -> Sql<D> {
        Sql { driver, readers: Pool::new(Vec::new()), writers: Pool::new(Vec::new()), slots: 1, begin: None, others: Vec::new() }
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

    fn plan(&self, db: &'static D::Db, o: &Operation) -> Result<String, Refusal> {
        let explain = |s: &Step| self.query(db, &format!("EXPLAIN QUERY PLAN {}", s.sql)).map_err(failed);
        let steps: Vec<_> = o.steps.iter().filter(|s| !s.script).map(explain).collect::<Result<_, _>>()?;
        Ok(steps.concat().into_iter().filter_map(|row| row.into_iter().nth(3)).collect::<Vec<_>>().join("\n"))
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
    fn steps<'a>(&self, conn: &mut Conn<D>, client: &mut Client<'a>, o: &'a Operation, at: u64, later: bool, mut seen: Option<&mut Rows>) -> Result<i64, Fault> {
        let (driver, db, mut all) = (&self.driver, conn.db, 0);
        for (i, step) in o.steps.iter().enumerate() {
            o.args(step, at, &mut client.args);
            if client.null {
                all += std::hint::black_box(step.rows.max(0));
                continue;
            }
            let types = step.query.then_some(step.types.as_slice());
            let mut look = seen.as_mut().map(|seen| move |row: &[Value]| seen.add(i, row));
            let rows: Visit = look.as_mut().map(|look| look as _);
            let ran = match o.policy {
                _ if step.script => driver.execute(db, &step.sql).map(|()| 0),
                Policy::Once => driver.run(db, &mut conn.statements[o.slot][i], &client.args, types, rows),
                _ => driver.compile(db, &step.sql).and_then(|mut s| driver.run(db, &mut s, &client.args, types, rows)),
            };
            all += ran.map_err(|e| self.fault(e, later || i > 0 && o.transaction > 0))?;
        }
        Ok(all)
    }
}

impl<D: Driver> Engine for Sql<D> {
    fn hello(&self) -> Reply {
        let conn = self.connect("hello", ":memory:", &[]).map_err(failed)?;
        let column = |sql| self.query(conn.db, sql).map(|rows| rows.concat()).map_err(failed);
        Ok(json!({"type": "hello", "protocol": 1, "capabilities": ["sql", "query", "answers"], "target": {
            "driver": NAME, "driver_version": locked(D::CRATE), "engine": "sqlite", "engine_version": column("SELECT sqlite_version()")?.concat(),
            "compile_options": column("PRAGMA compile_options")?, "facts": {"api": D::CRATE, "source_id": column("SELECT sqlite_source_id()")?.concat(), "clients": "threads",
                "uncounted": "B/op and allocs/op leave out what SQLite itself allocates", "open": D::OPENS, "execute": D::EXECUTES}}}))
    }

    fn open(&mut self, r: &Json) -> Reply {
        self.begin = r["settings"]["begin"].as_str().map(String::from);
        let each = texts(r, "each");
        let connect = |kind: &str, n: u64| -> Result<Pool<D>, Refusal> {
            let all = (1..=n).map(|i| self.connect(&format!("{kind}-{i}"), text(r, "dsn"), &each).map_err(failed));
            Ok(Pool::new(all.collect::<Result<_, _>>()?))
        };
        let (readers, writers) = (connect("reader", count(r, "readers"))?, connect("writer", count(r, "writers"))?);
        let first = writers.all.first().or(readers.all.first()).map(|conn| unsafe { &*conn.get() }.db);
        for sql in texts(r, "once") {
            self.driver.execute(first.unwrap(), &sql).map_err(failed)?;
        }
        (self.readers, self.writers) = (readers, writers);
        Ok(json!({"issued": self.begin.as_ref().map(|_| json!({"begin": self.begins()}))}))
    }

    fn query(&mut self, r: &Json, row: &mut dyn FnMut(&[Value])) -> Result<(), Refusal> {
        let (name, sql, control) = (text(r, "connection"), text(r, "sql"), text(r, "control"));
        if !text(r, "dsn").is_empty() {
            self.others.push(self.connect(name, text(r, "dsn"), &[]).map_err(failed)?);
        }
        let conn = self.all().chain(&self.others).find(|conn| conn.name == name);
        let db = conn.expect("assay names those that are open").db;
        let ran = match control {
            "" => self.driver.compile(db, sql).and_then(|mut s| self.driver.run(db, &mut s, &[], Some(&[]), Some(row)).map(|_| ())),
            "begin" => self.driver.execute(db, &self.begins()),
            "rollback" => self.driver.execute(db, "ROLLBACK"),
            _ => Ok(self.others.retain(|conn| conn.name != name)),
        };
        ran.map_err(failed)
    }

    fn prepare(&mut self, o: &mut Operation) -> Result<String, Refusal> {
        o.slot = self.slots;
        self.slots += 1;
        for conn in self.readers.all.iter_mut().chain(&mut self.writers.all) {
            conn.get_mut().statements.resize_with(self.slots, Vec::new);
        }
        self.compile(o)?;
        self.plan(unsafe { &*self.pool(o.changes).all[0].get() }.db, o)
    }

    fn run<'a>(&self, client: &mut Client<'a>, o: &'a Operation, at: u64, mut seen: Option<&mut Rows>) -> Result<i64, Fault> {
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

    fn close(&mut self) {
        (self.readers, self.writers) = (Pool::new(Vec::new()), Pool::new(Vec::new()));
        self.others.clear();
    }
}
