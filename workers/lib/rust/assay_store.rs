//! Key-value stores.

use super::data::{Trace, Value};
use super::*;
use serde_json::Map;

pub type Error = Box<dyn std::error::Error + Send + Sync>;
pub type Result<T> = std::result::Result<T, Error>;

/// A transaction. Gets append the value to `into`, and say whether the key is there.
pub trait Transaction {
    fn get(&mut self, key: &[u8], into: &mut Vec<u8>) -> Result<bool>;
    fn put(&mut self, _key: &[u8], _value: &[u8]) -> Result<()> {
        Err("this transaction only reads".into())
    }
    fn delete(&mut self, _key: &[u8]) -> Result<()> {
        Err("this transaction only reads".into())
    }
}

/// An open store, which all clients share.
pub trait Store: Sync + Sized {
    /// The crate whose version is the driver's.
    const CRATE: &'static str;
    /// The settings that it takes, of those in kit/kv/kv.go; sizes are in bytes.
    const SETTINGS: &'static [&'static str];
    /// Whether several processes may have it open.
    const PROCESSES: bool = false;

    fn version() -> String {
        locked(Self::CRATE)
    }
    /// The engine, where it has a name and a version of its own.
    fn engine() -> (&'static str, String) {
        (NAME, Self::version())
    }
    /// Opens the store in a folder, or makes it.
    fn open(folder: &str, settings: &Settings) -> Result<Self>;
    /// Runs a transaction: what it did is committed and acknowledged at the end. One in conflict
    /// with another may run again, from its beginning.
    fn update(&self, work: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>) -> Result<()>;
    /// Runs a read transaction: all gets see one moment. A library that has none takes `update`'s.
    fn view(&self, work: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>) -> Result<()>;
    /// Visits up to n keys with their values, from a key on.
    fn scan(&self, from: &[u8], n: usize, visit: &mut dyn FnMut(&[u8], &[u8]) -> Result<()>) -> Result<()>;
    fn get(&self, key: &[u8], into: &mut Vec<u8>) -> Result<bool> {
        let mut found = false;
        self.view(&mut |t| Ok(found = t.get(key, into)?))?;
        Ok(found)
    }
    /// The class of durability with these settings, of those in docs/durability.md: what
    /// the documentation promises, or less where `assay crash` has refuted that.
    fn durability(settings: &Settings) -> &'static str;
    /// The settings that the library shows.
    fn effective(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
    /// Looks for damage in all of the store: the name of the library's check.
    fn check(&mut self) -> Option<Result<&'static str>> {
        None
    }
    /// Does at once what would be done in the background later.
    fn settle(&self) -> Result<()> {
        Ok(())
    }
}

/// The settings that were asked for.
pub struct Settings(Map<String, Json>);

impl Settings {
    pub fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name)?.as_str()?.parse().ok()
    }

    /// Whether a switch is on; otherwise is what the library does by itself.
    pub fn is(&self, name: &str, otherwise: bool) -> bool {
        self.number(name).map_or(otherwise, |n| n == 1)
    }
}

/// A store through its library.
pub struct Kv<S: Store> {
    store: Option<S>,
    connections: Vec<String>,
}

impl<S: Store> Kv<S> {
    pub fn new() -> Kv<S> {
        Kv { store: None, connections: Vec::new() }
    }

    fn store(&self) -> &S {
        self.store.as_ref().expect("the store is open")
    }

    /// One step that reads.
    fn look(&self, t: Option<&mut dyn Transaction>, o: &Operation, i: usize, args: &[Value], value: &mut Vec<u8>, mut seen: Option<&mut Rows>) -> Result<i64> {
        let (step, key, mut rows) = (&o.steps[i], args[0].bytes(), 0);
        value.clear();
        if step.kv == "scan" {
            let n = if let Value::Int(n) = args[1] { n as usize } else { 0 };
            self.store().scan(key, n, &mut |key, stored| {
                rows += 1;
                value.clear();
                value.extend_from_slice(key);
                value.extend_from_slice(stored);
                seen.as_mut().map_or(Ok(()), |s| Ok(s.add(i, &row(Some(key), stored, step.fields)?)))
            })?;
        } else if if let Some(t) = t { t.get(key, value)? } else { self.store().get(key, value)? } {
            rows = 1;
            if let Some(seen) = seen {
                let all = row(None, value, step.fields)?;
                seen.add(i, if step.kv == "get-field" { &all[step.field..=step.field] } else { &all });
            }
        }
        Ok(rows)
    }

    /// One step in a transaction that changes data.
    fn change(&self, t: &mut dyn Transaction, o: &Operation, i: usize, args: &[Value], value: &mut Vec<u8>) -> Result<i64> {
        let (step, key) = (&o.steps[i], args[0].bytes());
        match step.kv.as_str() {
            "put" if args.len() == 2 => t.put(key, args[1].bytes()).map(|()| 1),
            "put" => {
                value.clear();
                args[1..].iter().for_each(|field| value.extend_from_slice(field.bytes()));
                t.put(key, value).map(|()| 1)
            }
            "delete" => t.delete(key).map(|()| 1),
            "update" => {
                value.clear();
                if !t.get(key, value)? {
                    return Ok(0);
                }
                let (field, n) = (args[1].bytes(), args[1].bytes().len());
                if value.len() != step.fields * n {
                    return Err(format!("the value of {} bytes has no {} fields of {n}", value.len(), step.fields).into());
                }
                value[step.field * n..][..n].copy_from_slice(field);
                t.put(key, value).map(|()| 1)
            }
            _ => self.look(Some(t), o, i, args, value, None),
        }
    }
}

/// The columns of a key, where there is one, and of a value with fields.
fn row<'a>(key: Option<&'a [u8]>, value: &'a [u8], fields: usize) -> Result<Vec<Value<'a>>> {
    let fields = fields.max(1);
    if value.len() % fields != 0 {
        return Err(format!("the value of {} bytes has no {fields} fields of equal length", value.len()).into());
    }
    let (size, key) = (value.len() / fields, key.into_iter().map(Value::Blob));
    Ok(key.chain((0..fields).map(|i| Value::Blob(&value[i * size..][..size]))).collect())
}

impl<S: Store> Engine for Kv<S> {
    fn hello(&self) -> Reply {
        let (engine, version) = S::engine();
        let capabilities: &[&str] = if S::PROCESSES { &["kv", "query", "answers", "processes"] } else { &["kv", "query", "answers"] };
        Ok(json!({"type": "hello", "protocol": 1, "capabilities": capabilities, "target": {"driver": NAME, "engine": engine,
            "driver_version": S::version(), "engine_version": version, "facts": {"api": "key-value", "clients": "threads",
                "crate": S::CRATE, "pool": "none: one handle that all clients share"}}}))
    }

    fn open(&mut self, r: &Json) -> Reply {
        ensure(text(r, "dsn").is_empty() && list(r, "each").is_empty() && list(r, "once").is_empty(), || unsupported("a store takes no DSN and no SQL"))?;
        let settings = Settings(r["settings"].as_object().cloned().unwrap_or_default());
        for name in settings.0.keys() {
            ensure(S::SETTINGS.contains(&name.as_str()), || unsupported(format!("{NAME} has no setting {name}")))?;
        }
        std::fs::create_dir_all(text(r, "path")).map_err(failed)?;
        self.store = Some(S::open(text(r, "path"), &settings).map_err(failed)?);
        let names = |kind: &'static str, n: u64| (1..=n).map(move |i| format!("{kind}-{i}"));
        self.connections = names("reader", count(r, "readers")).chain(names("writer", count(r, "writers"))).collect();
        Ok(json!({"issued": settings.0, "durability": S::durability(&settings)}))
    }

    fn settings(&self, names: &[String]) -> Reply {
        let mut found: Map<String, Json> = self.store().effective().into_iter().map(|(name, value)| (name.into(), json!(value))).collect();
        found.retain(|name, _| names.contains(name));
        Ok(self.connections.iter().map(|name| json!({"name": name, "settings": found})).collect())
    }

    fn prepare(&mut self, _o: &mut Operation) -> std::result::Result<String, Refusal> {
        Ok(String::new())
    }

    fn run<'a>(&self, client: &mut Client<'a>, o: &'a Operation, at: u64, mut seen: Option<&mut Rows>) -> std::result::Result<i64, Fault> {
        let Client { args, value, alone, null, .. } = client;
        let size = if *alone { 1 } else { o.size() };
        let (store, mut rows) = (self.store(), 0);
        let mut each = |one: &mut dyn FnMut(usize, &[Value], &mut Vec<u8>) -> Result<i64>| -> Result<()> {
            rows = 0; // the store may run a transaction again
            for p in at..at + size {
                for (i, step) in o.steps.iter().enumerate() {
                    o.args(step, p, args);
                    rows += one(i, args, value)?;
                }
            }
            Ok(())
        };
        if *null {
            each(&mut |i, args, _| Ok(std::hint::black_box(args).len() as i64 * 0 + o.steps[i].rows.max(0)))?;
        } else if o.transaction > 0 && o.changes {
            store.update(&mut |t| each(&mut |i, args, value| self.change(t, o, i, args, value)))?;
        } else if o.transaction > 0 && !*alone {
            store.view(&mut |t| each(&mut |i, args, value| self.look(Some(&mut *t), o, i, args, value, seen.as_deref_mut())))?;
        } else {
            each(&mut |i, args, value| match o.steps[i].kv.as_str() {
                "put" | "delete" | "update" => {
                    let mut rows = 0;
                    store.update(&mut |t| Ok(rows = self.change(t, o, i, args, value)?))?;
                    Ok(rows)
                }
                _ => self.look(None, o, i, args, value, seen.as_deref_mut()),
            })?;
        }
        Ok(rows)
    }

    fn rows(&self, r: &Json, each: &mut dyn FnMut(&[Value])) -> std::result::Result<(), Refusal> {
        ensure(flag(r, "all"), || unsupported("a store runs no SQL"))?;
        let fields = list(r, "returns").len().saturating_sub(1);
        self.store().scan(&[], usize::MAX, &mut |key, value| Ok(each(&row(Some(key), value, fields)?))).map_err(failed)
    }

    /// Loads in batches of at most 1000 records or 8 MiB.
    fn load(&mut self, records: &Trace) -> std::result::Result<(), Refusal> {
        let mut from = 0;
        while from < records.rows {
            let mut to = from;
            let batch = &mut |t: &mut dyn Transaction| {
                let mut bytes = 0;
                to = from;
                while to < records.rows && to - from < 1000 && bytes < 8 << 20 {
                    let (key, value) = (records.value(0, to).bytes(), records.value(1, to).bytes());
                    t.put(key, value)?;
                    (to, bytes) = (to + 1, bytes + key.len() + value.len());
                }
                Ok(())
            };
            self.store().update(batch).map_err(failed)?;
            from = to;
        }
        self.store().settle().map_err(failed)
    }

    fn check(&mut self) -> std::result::Result<&'static str, Refusal> {
        let checked = self.store.as_mut().and_then(S::check);
        checked.ok_or_else(|| unsupported(format!("{NAME} has no check of its own")))?.map_err(failed)
    }

    fn close(&mut self) {
        self.store = None;
    }
}
