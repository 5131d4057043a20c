//! Worker rusqlite drives SQLite through the crate rusqlite, with the SQLite that it bundles.

mod assay;

use assay::data::{Kind, Value};
use assay::sql::{Driver, Sql, Visit};
use rusqlite::{Connection, Error, Row, Statement, types::ToSqlOutput, types::ValueRef};
use std::hint::black_box;

struct Rusqlite;

impl Driver for Rusqlite {
    type Db = Connection;
    type Statement = Statement<'static>;
    type Error = Error;
    const CRATE: &'static str = "rusqlite";
    const OPENS: &'static str = "let db = rusqlite::Connection::open({{dsn}})?;";
    const EXECUTES: &'static str = "db.execute_batch({{sql}})?;";

    fn open(&self, dsn: &str) -> Result<Connection, Error> {
        Connection::open(dsn)
    }

    fn execute(&self, db: &Connection, sql: &str) -> Result<(), Error> {
        db.execute_batch(sql)
    }

    fn compile(&self, db: &'static Connection, sql: &str) -> Result<Statement<'static>, Error> {
        db.prepare(sql)
    }

    fn run(&self, db: &Connection, s: &mut Statement, args: &[Value], types: Option<&[Kind]>, rows: Visit) -> Result<i64, Error> {
        for (i, arg) in args.iter().enumerate() {
            s.raw_bind_parameter(i + 1, ToSqlOutput::Borrowed(bound(arg)))?;
        }
        let Some(types) = types else {
            let before = db.total_changes();
            let changed = s.raw_execute()?;
            return Ok(if db.total_changes() == before { 0 } else { changed as i64 });
        };
        let (columns, mut answer, mut n) = (s.column_count(), s.raw_query(), 0);
        if let Some(each) = rows {
            while let Some(row) = answer.next()? {
                each(&(0..columns).map(|i| row.get_ref(i).map(stored)).collect::<Result<Vec<_>, _>>()?);
                n += 1;
            }
        } else {
            while let Some(row) = answer.next()? {
                read(row, types)?;
                n += 1;
            }
        }
        Ok(n)
    }

    fn code(&self, error: &Error) -> i32 {
        error.sqlite_error().map_or(0, |e| e.extended_code & 0xff)
    }
}

/// Reads a row as a program does that knows its types.
fn read(row: &Row, types: &[Kind]) -> Result<(), Error> {
    for (i, t) in types.iter().enumerate() {
        match t {
            Kind::Int => drop(black_box(row.get::<_, Option<i64>>(i)?)),
            Kind::Real => drop(black_box(row.get::<_, Option<f64>>(i)?)),
            Kind::Bool => drop(black_box(row.get::<_, Option<bool>>(i)?)),
            Kind::Text => drop(black_box(match row.get_ref(i)? {
                ValueRef::Blob(b) => Some(String::from_utf8_lossy(b).into_owned()),
                _ => row.get::<_, Option<String>>(i)?,
            })),
            Kind::Blob => drop(black_box(row.get_ref(i)?.as_bytes_or_null()?.map(Vec::from))),
        }
    }
    Ok(())
}

fn bound<'a>(value: &Value<'a>) -> ValueRef<'a> {
    match *value {
        Value::Null => ValueRef::Null,
        Value::Int(n) => ValueRef::Integer(n),
        Value::Real(f) => ValueRef::Real(f),
        Value::Text(b) => ValueRef::Text(b),
        Value::Blob(b) => ValueRef::Blob(b),
    }
}

fn stored(value: ValueRef) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(n) => Value::Int(n),
        ValueRef::Real(f) => Value::Real(f),
        ValueRef::Text(b) => Value::Text(b),
        ValueRef::Blob(b) => Value::Blob(b),
    }
}

fn main() {
    std::process::exit(assay::serve(Sql::new(Rusqlite)));
}
