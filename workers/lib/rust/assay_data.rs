//! What travels beside the lines of the protocol (docs/protocol.md): values, column
//! files, digests, histograms.

use sha2::{Digest as _, Sha256};
use std::io::Write;

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    Int,
    Real,
    Text,
    Blob,
    Bool,
}

/// The declared type of a column of an answer.
#[derive(Clone, Copy, Debug)]
pub struct Type {
    pub kind: Kind,
    pub null: bool,
}

impl Type {
    pub fn parse(text: &str) -> Result<Type, String> {
        let kind = match text.strip_suffix('?').unwrap_or(text) {
            "int" => Kind::Int,
            "real" => Kind::Real,
            "text" => Kind::Text,
            "blob" => Kind::Blob,
            "bool" => Kind::Bool,
            _ => return Err(format!("there is no type {text:?}")),
        };
        Ok(Type { kind, null: text.ends_with('?') })
    }
}

/// An argument, or a value as the engine has stored it.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    Null,
    Int(i64),
    Real(f64),
    Text(&'a [u8]),
    Blob(&'a [u8]),
}

impl<'a> Value<'a> {
    /// The bytes of a text or blob.
    pub fn bytes(self) -> &'a [u8] {
        match self {
            Value::Text(b) | Value::Blob(b) => b,
            _ => &[],
        }
    }
}

struct Column {
    kind: u32,
    nulls: Option<usize>,
    values: usize,
    bytes: usize,
}

/// A column file: the arguments of an operation, one row per position.
pub struct Trace {
    data: Vec<u8>,
    columns: Vec<Column>,
    pub rows: u64,
}

impl Trace {
    pub fn read(path: &str) -> Result<Trace, String> {
        let data = std::fs::read(path).map_err(|e| format!("{path}: {e}"))?;
        Trace::parse(data).ok_or_else(|| format!("{path} is no column file"))
    }

    fn parse(data: Vec<u8>) -> Option<Trace> {
        let word = |at: u64| Some(u64::from_le_bytes(data.get(at as usize..at.checked_add(8)? as usize)?.try_into().ok()?));
        let fits = |at: u64, n: u64, size: u64| (at % 8 == 0 && at.checked_add(n.checked_mul(size)?)? <= data.len() as u64).then_some(());
        if data.get(..8)? != b"ASSAYCOL" || word(8)? as u32 != 1 {
            return None;
        }
        let (count, rows) = (word(8)? >> 32, word(16)?);
        let mut columns = Vec::new();
        for c in 0..count {
            let head = 24 + 32 * c;
            let (kind, nulls) = (word(head)? as u32, (word(head)? >> 32 & 1 == 1).then_some(word(head + 8)?));
            let (values, bytes, long) = (word(head + 16)?, word(head + 24)?, kind == 3 || kind == 4);
            fits(values, rows.checked_add(long as u64)?, 8)?;
            nulls.map_or(Some(()), |at| fits(at, rows.div_ceil(8), 1))?;
            if long {
                let offsets = (0..=rows).map(|r| word(values + 8 * r)).collect::<Option<Vec<u64>>>()?;
                fits(bytes, *offsets.last()?, 1)?;
                offsets.is_sorted().then_some(())?;
            }
            (1..=5).contains(&kind).then_some(())?;
            columns.push(Column { kind, nulls: nulls.map(|n| n as usize), values: values as usize, bytes: bytes as usize });
        }
        Some(Trace { data, columns, rows })
    }

    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// Whether there is a column with one of these types, by their numbers.
    pub fn has(&self, column: usize, kind: u32) -> bool {
        self.columns.get(column).is_some_and(|c| c.kind == kind)
    }

    fn word(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.data[at..at + 8].try_into().unwrap())
    }

    pub fn value(&self, column: usize, row: u64) -> Value<'_> {
        let (c, row) = (&self.columns[column], row as usize);
        if c.nulls.is_some_and(|at| self.data[at + row / 8] >> (row % 8) & 1 == 1) {
            return Value::Null;
        }
        let word = self.word(c.values + 8 * row);
        match c.kind {
            2 => Value::Real(f64::from_bits(word)),
            3 | 4 => {
                let end = self.word(c.values + 8 * row + 8) as usize;
                let bytes = &self.data[c.bytes + word as usize..c.bytes + end];
                if c.kind == 3 { Value::Text(bytes) } else { Value::Blob(bytes) }
            }
            _ => Value::Int(word as i64),
        }
    }
}

/// Rows of a unit as they are stored.
#[derive(Default)]
pub struct Rows {
    bytes: Vec<u8>,
    count: u32,
}

impl Rows {
    pub fn add(&mut self, step: u32, row: &[Value]) {
        self.count += 1;
        self.bytes.extend([step, row.len() as u32].map(u32::to_le_bytes).concat());
        row.iter().for_each(|value| self.value(value));
    }

    fn value(&mut self, value: &Value) {
        let (tag, number, bytes): (u8, [u8; 8], &[u8]) = match value {
            Value::Null => return self.bytes.push(0),
            Value::Int(n) => (1, n.to_le_bytes(), &[]),
            Value::Real(f) => (2, f.to_le_bytes(), &[]),
            Value::Text(b) => (3, (b.len() as u64).to_le_bytes(), b),
            Value::Blob(b) => (4, (b.len() as u64).to_le_bytes(), b),
        };
        self.bytes.push(tag);
        self.bytes.extend_from_slice(&number[..if tag < 3 { 8 } else { 4 }]);
        self.bytes.extend_from_slice(bytes);
    }

    /// Adds the unit to a file.
    pub fn write(self, unit: u64, part: u32, path: &str) -> std::io::Result<()> {
        let mut file = std::fs::File::options().append(true).create(true).open(path)?;
        file.write_all(&[&unit.to_le_bytes()[..], &part.to_le_bytes(), &self.count.to_le_bytes(), &self.bytes].concat())
    }
}

/// The digest of rows, in order.
#[derive(Default)]
pub struct Digest {
    hash: Sha256,
    pub rows: u64,
}

impl Digest {
    pub fn row(&mut self, types: &[Type], row: &[Value]) -> Result<(), String> {
        if row.len() != types.len() {
            return Err(format!("a row has {} columns, declared are {}", row.len(), types.len()));
        }
        self.rows += 1;
        self.hash.update((row.len() as u32).to_le_bytes());
        types.iter().zip(row).try_for_each(|(t, v)| self.value(*t, v))
    }

    fn value(&mut self, t: Type, v: &Value) -> Result<(), String> {
        let mut put = |tag: u8, bytes: &[u8]| {
            self.hash.update([tag]);
            self.hash.update(bytes);
        };
        match (t.kind, v) {
            (_, Value::Null) if t.null => put(0, &[]),
            (Kind::Int, Value::Int(n)) => put(1, &n.to_le_bytes()),
            (Kind::Real, Value::Int(n)) => put(2, &(*n as f64).to_le_bytes()),
            (Kind::Real, Value::Real(f)) if f.is_nan() => put(2, &0x7ff8000000000000u64.to_le_bytes()),
            (Kind::Real, Value::Real(f)) => put(2, &(f + 0.0).to_le_bytes()),
            (Kind::Text | Kind::Blob, Value::Text(b) | Value::Blob(b)) => {
                put(if t.kind == Kind::Text { 3 } else { 4 }, &(b.len() as u32).to_le_bytes());
                self.hash.update(b);
            }
            (Kind::Bool, Value::Int(n)) => put(5, &[(*n != 0) as u8]),
            _ => return Err(format!("{v:?} where {:?} is declared", t.kind)),
        }
        Ok(())
    }

    pub fn hex(self) -> String {
        hex(self.hash)
    }
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The digest of an answer: of several steps, that of their digests.
pub fn combined(digests: Vec<Digest>) -> String {
    let mut texts: Vec<String> = digests.into_iter().map(Digest::hex).collect();
    if texts.len() == 1 { texts.remove(0) } else { hex(Sha256::new_with_prefix(texts.concat())) }
}

/// Counts of latencies, by bucket.
pub struct Histogram(Vec<u64>);

impl Histogram {
    pub fn new() -> Histogram {
        Histogram(vec![0; 35 * 128])
    }

    pub fn add(&mut self, ns: u64, units: u64) {
        let v = ns.min((1 << 41) - 1);
        let s = if v < 128 { 0 } else { v.ilog2() as u64 - 7 };
        self.0[(s * 128 + (v >> s)) as usize] += units;
    }

    pub fn merge(&mut self, other: &Histogram) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a += b);
    }

    pub fn pairs(&self) -> Vec<[u64; 2]> {
        let upper = |i: u64| if i < 128 { i } else { ((i - (i / 128 - 1) * 128 + 1) << (i / 128 - 1)) - 1 };
        let filled = self.0.iter().enumerate().filter(|(_, n)| **n > 0);
        filled.map(|(i, n)| [upper(i as u64), *n]).collect()
    }
}
