//! Worker fjall drives fjall: an LSM tree with a log, and one writing transaction at a time.

mod assay;

use assay::store::{Kv, Result, Settings, Store, Transaction};
use fjall::{KeyspaceCreateOptions, PersistMode, Readable, SingleWriterTxDatabase, SingleWriterTxKeyspace, SingleWriterWriteTx, Snapshot};

struct Fjall {
    db: SingleWriterTxDatabase,
    keys: SingleWriterTxKeyspace,
    mode: PersistMode,
}

impl Store for Fjall {
    const CRATE: &'static str = "fjall";
    const SETTINGS: &'static [&'static str] = &["sync", "block_cache"];

    fn open(folder: &str, settings: &Settings) -> Result<Fjall> {
        let mut builder = SingleWriterTxDatabase::builder(folder);
        if let Some(bytes) = settings.number("block_cache") {
            builder = builder.cache_size(bytes);
        }
        let db = builder.open()?;
        let keys = db.keyspace("kv", KeyspaceCreateOptions::default)?;
        Ok(Fjall { db, keys, mode: if settings.is("sync", false) { PersistMode::SyncAll } else { PersistMode::Buffer } })
    }

    fn update(&self, work: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>) -> Result<()> {
        let mut t = Writer { keys: &self.keys, t: self.db.write_tx().durability(Some(self.mode)) };
        work(&mut t)?;
        Ok(t.t.commit()?)
    }

    fn view(&self, work: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>) -> Result<()> {
        work(&mut Reader { keys: &self.keys, t: self.db.read_tx() })
    }

    fn get(&self, key: &[u8], into: &mut Vec<u8>) -> Result<bool> {
        Ok(self.keys.get(key)?.map(|value| into.extend_from_slice(&value)).is_some())
    }

    fn scan(&self, from: &[u8], n: usize, visit: &mut dyn FnMut(&[u8], &[u8]) -> Result<()>) -> Result<()> {
        for pair in self.db.read_tx().range(&self.keys, from..).take(n) {
            let (key, value) = pair.into_inner()?;
            visit(&key, &value)?;
        }
        Ok(())
    }

    /// The log has checksums: what a power cut leaves of it ends with a whole commit.
    fn durability(settings: &Settings) -> &'static str {
        if settings.is("sync", false) { "power" } else { "consistent" }
    }

    fn effective(&self) -> Vec<(&'static str, String)> {
        vec![("block_cache", self.db.inner().cache_capacity().to_string())]
    }

    fn settle(&self) -> Result<()> {
        let db = self.db.inner();
        while db.outstanding_flushes() > 0 || db.active_compactions() > 0 {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        Ok(())
    }
}

struct Reader<'a> {
    keys: &'a SingleWriterTxKeyspace,
    t: Snapshot,
}

impl Transaction for Reader<'_> {
    fn get(&mut self, key: &[u8], into: &mut Vec<u8>) -> Result<bool> {
        Ok(self.t.get(self.keys, key)?.map(|value| into.extend_from_slice(&value)).is_some())
    }
}

struct Writer<'a> {
    keys: &'a SingleWriterTxKeyspace,
    t: SingleWriterWriteTx<'a>,
}

impl Transaction for Writer<'_> {
    fn get(&mut self, key: &[u8], into: &mut Vec<u8>) -> Result<bool> {
        Ok(self.t.get(self.keys, key)?.map(|value| into.extend_from_slice(&value)).is_some())
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.t.insert(self.keys, key, value);
        Ok(())
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.t.remove(self.keys, key);
        Ok(())
    }
}

fn main() {
    std::process::exit(assay::serve(Kv::<Fjall>::new()));
}
