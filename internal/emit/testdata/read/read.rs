// Runs SQL on two connections of a form, as read.py does.
use rusqlite::{Connection, Result, types::ValueRef};
use std::io::BufRead;

// MODULES

fn value(connection: &Connection, sql: &str) -> Result<String> {
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    let mut first = String::new();
    while let Some(row) = rows.next()? {
        first = match row.get_ref(0)? {
            ValueRef::Null => String::new(),
            ValueRef::Integer(n) => n.to_string(),
            ValueRef::Real(x) => x.to_string(),
            ValueRef::Text(text) | ValueRef::Blob(text) => String::from_utf8_lossy(text).into(),
        };
    }
    Ok(first)
}

fn main() {
    let open = match std::env::args().nth(1).unwrap().as_str() {
        // FORMS
        other => panic!("{other}"),
    };
    let connections = [open("app.db").unwrap(), open("app.db").unwrap()];
    for line in std::io::stdin().lock().lines().map(|line| line.unwrap()) {
        let (number, sql) = line.split_once(' ').unwrap();
        match value(&connections[number.parse::<usize>().unwrap()], sql) {
            Ok(text) => println!("{text}"),
            Err(error) => println!("error: {error}"),
        }
    }
}
