//! Worker heed drives LMDB through the crate heed, with the LMDB that it brings: a B+ tree in
//! one mapped file, with one writer at a time.

mod assay;

use assay::store::{Error, Kv, Result, Settings, Store, Transaction};
use heed::{CommitOrAbort, Database, Env, EnvFlags, EnvOpenOptions, RoTxn, RwTxn, types::Bytes};
use std::ops::Bound;

type Keys = Database<'static, Bytes, Bytes>;

struct Heed {
    env: Env,
    keys: Keys,
}

/// The settings, with the flags that turn them off.
const OFF: [(&str, EnvFlags); 3] = [("sync", EnvFlags::NO_SYNC), ("meta_sync", EnvFlags::NO_META_SYNC), ("readahead", EnvFlags::NO_READ_AHEAD)];
/// Address space only: the file grows as data come.
const MAP_SIZE: usize = 64 << 30;
const READERS: u32 = 4096;

impl Store for Heed {
    const CRATE: &'static str = "heed";
    const SETTINGS: &'static [&'static str] = &["sync", "meta_sync", "readahead"];
    const PROCESSES: bool = true;

    fn engine() -> (&'static str, String) {
        let v = heed::lmdb_version();
        ("lmdb", format!("{}.{}.{}", v.major, v.minor, v.patch))
    }

    fn open(folder: &str, settings: &Settings) -> Result<Heed> {
        let flags = OFF.iter().filter(|(name, _)| !settings.is(name, true)).map(|(_, flag)| *flag).collect();
        let mut options = EnvOpenOptions::new();
        options.map_size(MAP_SIZE).max_readers(READERS);
        let env = unsafe { options.flags(flags).open(folder)? };
        let make = env.write_txn()?;
        let keys = env.create_databases_and_commit(make, |opener, t| opener.create_database(t, None).map(CommitOrAbort::<_, ()>::Commit))?.unwrap_commit();
        Ok(Heed { env, keys })
    }

    fn update(&self, work: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>) -> Result<()> {
        let mut t = Writer { keys: self.keys, t: self.env.write_txn()? };
        work(&mut t)?;
        Ok(t.t.commit()?)
    }

    fn view(&self, work: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>) -> Result<()> {
        let t = self.env.read_txn()?;
        work(&mut Reader { keys: self.keys, t: &t })
    }

    fn scan(&self, from: &[u8], n: usize, visit: &mut dyn FnMut(&[u8], &[u8]) -> Result<()>) -> Result<()> {
        let t = self.env.read_txn()?;
        let from = if from.is_empty() { Bound::Unbounded } else { Bound::Included(from) };
        for pair in self.keys.range(&t, &(from, Bound::Unbounded))?.take(n) {
            let (key, value) = pair?;
            visit(key, value)?;
        }
        Ok(())
    }

    /// With NO_SYNC a crash of the system can corrupt the database; with NO_META_SYNC it may
    /// undo the last transaction.
    fn durability(settings: &Settings) -> &'static str {
        match (settings.is("sync", true), settings.is("meta_sync", true)) {
            (false, _) => "process",
            (_, false) => "last-commit",
            _ => "power",
        }
    }

    fn effective(&self) -> Vec<(&'static str, String)> {
        let flags = EnvFlags::from_bits_retain(self.env.get_flags().unwrap_or_default());
        OFF.iter().map(|(name, off)| (*name, (!flags.contains(*off) as u8).to_string())).collect()
    }
}

impl Drop for Heed {
    fn drop(&mut self) {
        let _ = self.env.force_sync(); // what was not synced before is when the store is closed
    }
}

struct Reader<'a> {
    keys: Keys,
    t: &'a RoTxn<'a>,
}

impl Transaction for Reader<'_> {
    fn get(&mut self, key: &[u8], into: &mut Vec<u8>) -> Result<bool> {
        Ok(self.keys.get(self.t, key)?.map(|value| into.extend_from_slice(value)).is_some())
    }
}

struct Writer<'a> {
    keys: Keys,
    t: RwTxn<'a>,
}

impl Transaction for Writer<'_> {
    fn get(&mut self, key: &[u8], into: &mut Vec<u8>) -> Result<bool> {
        Reader { keys: self.keys, t: &self.t }.get(key, into)
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.keys.put(&mut self.t, key, value).map_err(Error::from)
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.keys.delete(&mut self.t, key).map(|_| ()).map_err(Error::from)
    }
}

fn main() {
    std::process::exit(assay::serve(Kv::<Heed>::new()));
}
