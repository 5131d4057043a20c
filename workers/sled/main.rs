//! Worker sled drives sled: a Bw-tree over a log, which is flushed twice a second or by each commit.

mod assay;

use assay::store::{Kv, Result, Settings, Store, Transaction};
use sled::transaction::{ConflictableTransactionError, TransactionError, TransactionalTree, UnabortableTransactionError};
use sled::{Config, Db};
use std::cell::RefCell;
use std::path::Path;

struct Sled {
    db: Db,
    sync: bool,
}

impl Store for Sled {
    const CRATE: &'static str = "sled";
    const SETTINGS: &'static [&'static str] = &["sync", "block_cache"];

    fn open(folder: &str, settings: &Settings) -> Result<Sled> {
        let mut config = Config::new().path(Path::new(folder).join("data.sled"));
        if let Some(bytes) = settings.number("block_cache") {
            config = config.cache_capacity(bytes);
        }
        Ok(Sled { db: config.open()?, sync: settings.is("sync", false) })
    }

    fn update(&self, work: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>) -> Result<()> {
        self.view(work)?;
        if self.sync {
            self.db.flush()?;
        }
        Ok(())
    }

    /// It has no transaction that only reads; it runs one again that is in conflict.
    fn view(&self, work: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>) -> Result<()> {
        let work = RefCell::new(work);
        let run = |t: &TransactionalTree| work.borrow_mut()(&mut Open(t)).map_err(|e| match e.downcast::<UnabortableTransactionError>() {
            Ok(conflict) => (*conflict).into(),
            Err(e) => ConflictableTransactionError::Abort(e),
        });
        self.db.transaction(run).map_err(|e| match e {
            TransactionError::Abort(e) => e,
            TransactionError::Storage(e) => e.into(),
        })
    }

    fn scan(&self, from: &[u8], n: usize, visit: &mut dyn FnMut(&[u8], &[u8]) -> Result<()>) -> Result<()> {
        for pair in self.db.range(from..).take(n) {
            let (key, value) = pair?;
            visit(&key, &value)?;
        }
        Ok(())
    }

    fn get(&self, key: &[u8], into: &mut Vec<u8>) -> Result<bool> {
        Ok(self.db.get(key)?.map(|value| into.extend_from_slice(&value)).is_some())
    }

    /// A commit that is not flushed is in the memory of the process, and flushing does not empty
    /// the cache of the disk: it is sync_file_range, which a power cut refutes.
    fn durability(settings: &Settings) -> &'static str {
        if settings.is("sync", false) { "process" } else { "none" }
    }
}

struct Open<'a>(&'a TransactionalTree);

impl Transaction for Open<'_> {
    fn get(&mut self, key: &[u8], into: &mut Vec<u8>) -> Result<bool> {
        let found = self.0.get(key)?;
        Ok(found.map(|value| into.extend_from_slice(&value)).is_some())
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.0.insert(key, value)?;
        Ok(())
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.0.remove(key)?;
        Ok(())
    }
}

fn main() {
    std::process::exit(assay::serve(Kv::<Sled>::new()));
}
