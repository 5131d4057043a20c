//! What travels beside the lines of the protocol (docs/protocol.md): values, column
//! files, rows, histograms.

use std::fs::File;
use std::io::{Result as Io, Write};

/// The declared type of a column of an answer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    Int,
    Real,
    Text,
    Blob,
    Bool,
}

impl Kind {
    pub fn parse(text: &str) -> Kind {
        match text.trim_end_matches('?') {
            "int" => Kind::Int,
            "real" => Kind::Real,
            "text" => Kind::Text,
            "blob" => Kind::Blob,
            _ => Kind::Bool,
        }
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
    pub fn read(path: &str) -> Io<Trace> {
        let mut trace = Trace { data: std::fs::read(path)?, columns: Vec::new(), rows: 0 };
        trace.rows = trace.word(16);
        for head in (0..trace.word(8) as usize >> 32).map(|c| 24 + 32 * c) {
            let at = |i: usize| trace.word(head + 8 * i) as usize;
            let column = Column { kind: at(0) as u32, nulls: (at(0) >> 32 & 1 == 1).then(|| at(1)), values: at(2), bytes: at(3) };
            trace.columns.push(column);
        }
        Ok(trace)
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

/// So many bytes of rows are written at once.
const ENOUGH: usize = 1 << 16;
/// What stands before the rows of a unit.
const HEAD: usize = 16;

/// Rows as they are stored: those of a unit, or all that a file gets, in as many units as
/// there are.
#[derive(Default)]
pub struct Rows {
    bytes: Vec<u8>,
    count: u32,
    file: Option<Io<File>>,
}

impl Rows {
    pub fn into_file(file: Option<File>) -> Rows {
        Rows { file: file.map(Ok), ..Rows::default() }
    }

    pub fn add(&mut self, step: usize, row: &[Value]) {
        self.bytes.resize(self.bytes.len().max(HEAD), 0);
        self.count += 1;
        self.bytes.extend([step as u32, row.len() as u32].map(u32::to_le_bytes).concat());
        row.iter().for_each(|value| self.value(value));
        if self.bytes.len() >= ENOUGH && self.file.is_some() {
            self.drain();
        }
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

    /// Adds the unit to a file, at once: clients share it.
    pub fn write(&mut self, unit: u64, part: usize, mut file: &File) -> Io<()> {
        self.bytes.resize(self.bytes.len().max(HEAD), 0);
        self.bytes[..8].copy_from_slice(&unit.to_le_bytes());
        self.bytes[8..12].copy_from_slice(&(part as u32).to_le_bytes());
        self.bytes[12..HEAD].copy_from_slice(&self.count.to_le_bytes());
        file.write_all(&self.bytes)
    }

    /// Writes what there is to the file. After an error, what follows is dropped.
    fn drain(&mut self) {
        self.file = match self.file.take() {
            Some(Ok(file)) => Some(self.write(0, 0, &file).map(|()| file)),
            other => other,
        };
        self.bytes.clear();
        self.count = 0;
    }

    pub fn finish(mut self) -> Io<()> {
        self.drain();
        self.file.map_or(Ok(()), |wrote| wrote.map(|_| ()))
    }
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
