//! Worker rocksdb drives RocksDB by its C API: an LSM tree with a log.

mod assay;
mod rocksdb;

use assay::store::{Kv, Result, Settings, Store, Transaction};
use rocksdb::*;
use std::ffi::{CStr, CString, c_char};
use std::ptr::{null, null_mut};

struct RocksDB {
    db: Handle,
    options: Handle,
    read: Handle,
    write: Handle,
}

// RocksDB allows all threads to use a store and its options at the same time.
unsafe impl Sync for RocksDB {}

/// Calls RocksDB, and returns its error.
fn tried<T>(call: impl FnOnce(Fault) -> T) -> Result<T> {
    let mut fault: *mut c_char = null_mut();
    let done = call(&mut fault);
    if fault.is_null() {
        return Ok(done);
    }
    let text = unsafe { CStr::from_ptr(fault) }.to_string_lossy().into_owned();
    unsafe { rocksdb_free(fault.cast()) };
    Err(text.into())
}

impl RocksDB {
    fn find(&self, read: Handle, key: &[u8], into: &mut Vec<u8>) -> Result<bool> {
        let found = tried(|fault| unsafe { rocksdb_get_pinned(self.db, read, key.as_ptr(), key.len(), fault) })?;
        if found.is_null() {
            return Ok(false);
        }
        unsafe {
            into.extend_from_slice(bytes(|n| rocksdb_pinnableslice_value(found, n)));
            rocksdb_pinnableslice_destroy(found);
        }
        Ok(true)
    }
}

/// The memory that a call returns with its length.
unsafe fn bytes<'a>(call: impl FnOnce(*mut usize) -> *const u8) -> &'a [u8] {
    let mut n = 0;
    let start = call(&mut n);
    if n == 0 { &[] } else { unsafe { std::slice::from_raw_parts(start, n) } }
}

impl Store for RocksDB {
    const CRATE: &'static str = "rocksdb";
    const SETTINGS: &'static [&'static str] = &["sync", "block_cache", "memtable_size"];

    fn version() -> String {
        env!("ROCKSDB_VERSION").into()
    }

    fn open(folder: &str, settings: &Settings) -> Result<RocksDB> {
        let path = CString::new(folder)?;
        unsafe {
            let (options, write) = (rocksdb_options_create(), rocksdb_writeoptions_create());
            rocksdb_options_set_create_if_missing(options, 1);
            if let Some(size) = settings.number("memtable_size") {
                rocksdb_options_set_write_buffer_size(options, size as usize);
            }
            if let Some(size) = settings.number("block_cache") {
                let (table, cache) = (rocksdb_block_based_options_create(), rocksdb_cache_create_lru(size as usize));
                rocksdb_block_based_options_set_block_cache(table, cache);
                rocksdb_options_set_block_based_table_factory(options, table);
                rocksdb_block_based_options_destroy(table);
                rocksdb_cache_destroy(cache); // the options keep it
            }
            rocksdb_writeoptions_set_sync(write, settings.is("sync", false).into());
            let db = tried(|fault| rocksdb_open(options, path.as_ptr(), fault))?;
            Ok(RocksDB { db, options, read: rocksdb_readoptions_create(), write })
        }
    }

    fn update(&self, work: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>) -> Result<()> {
        let mut batch = Batch { store: self, batch: unsafe { rocksdb_writebatch_create() } };
        work(&mut batch)?;
        tried(|fault| unsafe { rocksdb_write(self.db, self.write, batch.batch, fault) })
    }

    fn view(&self, work: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>) -> Result<()> {
        let (read, snapshot) = unsafe { (rocksdb_readoptions_create(), rocksdb_create_snapshot(self.db)) };
        unsafe { rocksdb_readoptions_set_snapshot(read, snapshot) };
        let done = work(&mut Snapshot { store: self, read });
        unsafe {
            rocksdb_release_snapshot(self.db, snapshot);
            rocksdb_readoptions_destroy(read);
        }
        done
    }

    fn get(&self, key: &[u8], into: &mut Vec<u8>) -> Result<bool> {
        self.find(self.read, key, into)
    }

    fn scan(&self, from: &[u8], n: usize, visit: &mut dyn FnMut(&[u8], &[u8]) -> Result<()>) -> Result<()> {
        let cursor = unsafe { rocksdb_create_iterator(self.db, self.read) };
        let (mut done, mut left) = (Ok(()), n);
        unsafe {
            rocksdb_iter_seek(cursor, from.as_ptr(), from.len());
            while done.is_ok() && left > 0 && rocksdb_iter_valid(cursor) != 0 {
                done = visit(bytes(|n| rocksdb_iter_key(cursor, n)), bytes(|n| rocksdb_iter_value(cursor, n)));
                left -= 1;
                if left > 0 {
                    rocksdb_iter_next(cursor);
                }
            }
            let read = tried(|fault| rocksdb_iter_get_error(cursor, fault));
            rocksdb_iter_destroy(cursor);
            done.and(read)
        }
    }

    /// Without sync the log is written, and has checksums: a killed process loses nothing,
    /// and what a power cut leaves ends with a whole commit.
    fn durability(settings: &Settings) -> &'static str {
        if settings.is("sync", false) { "power" } else { "consistent" }
    }

    fn effective(&self) -> Vec<(&'static str, String)> {
        let (sync, size) = unsafe { (rocksdb_writeoptions_get_sync(self.write), rocksdb_options_get_write_buffer_size(self.options)) };
        vec![("sync", sync.to_string()), ("memtable_size", size.to_string())]
    }

    fn settle(&self) -> Result<()> {
        unsafe { rocksdb_compact_range(self.db, null(), 0, null(), 0) };
        Ok(())
    }
}

impl Drop for RocksDB {
    fn drop(&mut self) {
        unsafe {
            rocksdb_close(self.db);
            rocksdb_readoptions_destroy(self.read);
            rocksdb_writeoptions_destroy(self.write);
            rocksdb_options_destroy(self.options);
        }
    }
}

struct Snapshot<'a> {
    store: &'a RocksDB,
    read: Handle,
}

impl Transaction for Snapshot<'_> {
    fn get(&mut self, key: &[u8], into: &mut Vec<u8>) -> Result<bool> {
        self.store.find(self.read, key, into)
    }
}

/// A batch, which is not read: reads are of what was committed.
struct Batch<'a> {
    store: &'a RocksDB,
    batch: Handle,
}

impl Transaction for Batch<'_> {
    fn get(&mut self, key: &[u8], into: &mut Vec<u8>) -> Result<bool> {
        self.store.get(key, into)
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        unsafe { rocksdb_writebatch_put(self.batch, key.as_ptr(), key.len(), value.as_ptr(), value.len()) };
        Ok(())
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        unsafe { rocksdb_writebatch_delete(self.batch, key.as_ptr(), key.len()) };
        Ok(())
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        unsafe { rocksdb_writebatch_destroy(self.batch) };
    }
}

fn main() {
    std::process::exit(assay::serve(Kv::<RocksDB>::new()));
}
