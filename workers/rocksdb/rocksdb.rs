//! What the worker uses of RocksDB's C API, rocksdb/c.h.

use std::ffi::{c_char, c_uchar, c_void};

pub type Handle = *mut c_void;
pub type Fault = *mut *mut c_char;

#[link(name = "rocksdb")]
unsafe extern "C" {
    pub fn rocksdb_options_create() -> Handle;
    pub fn rocksdb_options_destroy(options: Handle);
    pub fn rocksdb_options_set_create_if_missing(options: Handle, on: c_uchar);
    pub fn rocksdb_options_set_write_buffer_size(options: Handle, bytes: usize);
    pub fn rocksdb_options_set_block_based_table_factory(options: Handle, table: Handle);
    pub fn rocksdb_options_get_write_buffer_size(options: Handle) -> usize;
    pub fn rocksdb_block_based_options_create() -> Handle;
    pub fn rocksdb_block_based_options_destroy(table: Handle);
    pub fn rocksdb_block_based_options_set_block_cache(table: Handle, cache: Handle);
    pub fn rocksdb_cache_create_lru(bytes: usize) -> Handle;
    pub fn rocksdb_cache_destroy(cache: Handle);
    pub fn rocksdb_open(options: Handle, path: *const c_char, fault: Fault) -> Handle;
    pub fn rocksdb_close(db: Handle);
    pub fn rocksdb_free(memory: *mut c_void);
    pub fn rocksdb_readoptions_create() -> Handle;
    pub fn rocksdb_readoptions_destroy(options: Handle);
    pub fn rocksdb_readoptions_set_snapshot(options: Handle, snapshot: *const c_void);
    pub fn rocksdb_writeoptions_create() -> Handle;
    pub fn rocksdb_writeoptions_destroy(options: Handle);
    pub fn rocksdb_writeoptions_set_sync(options: Handle, on: c_uchar);
    pub fn rocksdb_writeoptions_get_sync(options: Handle) -> c_uchar;
    pub fn rocksdb_create_snapshot(db: Handle) -> *const c_void;
    pub fn rocksdb_release_snapshot(db: Handle, snapshot: *const c_void);
    pub fn rocksdb_get_pinned(db: Handle, options: Handle, key: *const u8, n: usize, fault: Fault) -> Handle;
    pub fn rocksdb_pinnableslice_value(slice: Handle, n: *mut usize) -> *const u8;
    pub fn rocksdb_pinnableslice_destroy(slice: Handle);
    pub fn rocksdb_writebatch_create() -> Handle;
    pub fn rocksdb_writebatch_destroy(batch: Handle);
    pub fn rocksdb_writebatch_put(batch: Handle, key: *const u8, n: usize, value: *const u8, m: usize);
    pub fn rocksdb_writebatch_delete(batch: Handle, key: *const u8, n: usize);
    pub fn rocksdb_write(db: Handle, options: Handle, batch: Handle, fault: Fault);
    pub fn rocksdb_create_iterator(db: Handle, options: Handle) -> Handle;
    pub fn rocksdb_iter_destroy(cursor: Handle);
    pub fn rocksdb_iter_seek(cursor: Handle, key: *const u8, n: usize);
    pub fn rocksdb_iter_valid(cursor: Handle) -> c_uchar;
    pub fn rocksdb_iter_next(cursor: Handle);
    pub fn rocksdb_iter_key(cursor: Handle, n: *mut usize) -> *const u8;
    pub fn rocksdb_iter_value(cursor: Handle, n: *mut usize) -> *const u8;
    pub fn rocksdb_iter_get_error(cursor: Handle, fault: Fault);
    pub fn rocksdb_compact_range(db: Handle, from: *const u8, n: usize, to: *const u8, m: usize);
}
