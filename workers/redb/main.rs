//! Worker redb drives redb: copy-on-write B+ trees in one file, with one writer at a time.

mod assay;

use assay::store::{Error, Kv, Result, Settings, Store, Transaction};
use redb::{Database, Durability, ReadTransaction, ReadableDatabase, ReadableTable, Table, TableDefinition};
use std::path::Path;

const TABLE: TableDefinition<&[u8], &[u8]> = TableDefinition::new("kv");

struct Redb {
    db: Database,
    durability: Durability,
}

impl Store for Redb {
    const CRATE: &'static str = "redb";
    const SETTINGS: &'static [&'static str] = &["sync"];

    fn open(folder: &str, settings: &Settings) -> Result<Redb> {
        let db = Database::create(Path::new(folder).join("data.redb"))?;
        let made = db.begin_write()?;
        made.open_table(TABLE)?;
        made.commit()?;
        Ok(Redb { db, durability: if settings.is("sync", true) { Durability::Immediate } else { Durability::None } })
    }

    fn update(&self, work: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>) -> Result<()> {
        let mut t = self.db.begin_write()?;
        t.set_durability(self.durability)?;
        work(&mut Writer(t.open_table(TABLE)?))?;
        Ok(t.commit()?)
    }

    fn view(&self, work: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>) -> Result<()> {
        work(&mut Reader(self.db.begin_read()?.open_table(TABLE)?))
    }

    fn scan(&self, from: &[u8], n: usize, visit: &mut dyn FnMut(&[u8], &[u8]) -> Result<()>) -> Result<()> {
        let t: ReadTransaction = self.db.begin_read()?;
        for pair in t.open_table(TABLE)?.range(from..)?.take(n) {
            let (key, value) = pair?;
            visit(key.value(), value.value())?;
        }
        Ok(())
    }

    /// A commit without durability is in the memory of the process until one with it follows.
    fn durability(settings: &Settings) -> &'static str {
        if settings.is("sync", true) { "power" } else { "none" }
    }

    fn check(&mut self) -> Option<Result<&'static str>> {
        let sound = self.db.check_integrity().map_err(Error::from);
        Some(sound.and_then(|sound| if sound { Ok("check_integrity") } else { Err("check_integrity finds damage, and has repaired it".into()) }))
    }
}

struct Reader(redb::ReadOnlyTable<&'static [u8], &'static [u8]>);

impl Transaction for Reader {
    fn get(&mut self, key: &[u8], into: &mut Vec<u8>) -> Result<bool> {
        let found = self.0.get(key)?;
        Ok(found.map(|value| into.extend_from_slice(value.value())).is_some())
    }
}

struct Writer<'a>(Table<'a, &'static [u8], &'static [u8]>);

impl Transaction for Writer<'_> {
    fn get(&mut self, key: &[u8], into: &mut Vec<u8>) -> Result<bool> {
        let found = self.0.get(key)?;
        Ok(found.map(|value| into.extend_from_slice(value.value())).is_some())
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.0.insert(key, value).map(|_| ()).map_err(Error::from)
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.0.remove(key).map(|_| ()).map_err(Error::from)
    }
}

fn main() {
    std::process::exit(assay::serve(Kv::<Redb>::new()));
}
