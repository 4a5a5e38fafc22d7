//! The border to SQLite: its callbacks, each of which turns pointers into values and calls a plain function.
#![expect(unsafe_code, reason = "SQLite calls a file system through C function pointers and raw memory")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;
use std::time::Duration;
use std::{ptr, slice};

use libsqlite3_sys as sys;

use super::dice::Dice;
use super::image::SECTOR;
use super::open_file::{self, FolderSync, OpenFile};
use super::shared_memory::MissingPiece;

/// Name by which connections ask for this file system.
const NAME: &CStr = c"mnemal-faulty";
/// Longest name of a file. Source: `MAX_PATHNAME` of SQLite's own file systems.
const LONGEST_NAME: c_int = 512;
/// Midnight of the first of January 2026 as SQLite counts, milliseconds of the Julian day. Source: own default; no statement
/// of the product asks SQLite for the time.
const NOW: i64 = 212_633_985_600_000;

/// What SQLite allocates for an open file; it starts as its own type does.
#[repr(C)]
struct Handle {
    base: sys::sqlite3_file,
    /// From `Box::into_raw`, until the file is closed.
    file: *mut OpenFile,
}

static METHODS: sys::sqlite3_io_methods = sys::sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

/// Registers the file system, once a process; it is never the default.
pub(super) fn register() {
    static DONE: OnceLock<()> = OnceLock::new();
    DONE.get_or_init(|| {
        let vfs = Box::leak(Box::new(sys::sqlite3_vfs {
            iVersion: 2,
            szOsFile: c_int::try_from(size_of::<Handle>()).unwrap_or(c_int::MAX),
            mxPathname: LONGEST_NAME,
            pNext: ptr::null_mut(),
            zName: NAME.as_ptr(),
            pAppData: ptr::null_mut(),
            xOpen: Some(open),
            xDelete: Some(delete),
            xAccess: Some(access),
            xFullPathname: Some(full_pathname),
            xDlOpen: None,
            xDlError: None,
            xDlSym: None,
            xDlClose: None,
            xRandomness: Some(randomness),
            xSleep: Some(sleep),
            xCurrentTime: Some(current_time),
            xGetLastError: Some(get_last_error),
            xCurrentTimeInt64: Some(current_time_int64),
            xSetSystemCall: None,
            xGetSystemCall: None,
            xNextSystemCall: None,
        }));
        // SAFETY: the structure lives as long as the process, its name ends with a NUL, and its callbacks keep SQLite's
        // contract.
        let code = unsafe { sys::sqlite3_vfs_register(vfs, 0) };
        assert_eq!(code, sys::SQLITE_OK, "a file system can be registered");
    });
}

/// Returns the code of an outcome.
fn code(outcome: Result<(), c_int>) -> c_int {
    outcome.err().unwrap_or(sys::SQLITE_OK)
}

/// Returns a name that SQLite gave.
///
/// # Safety
/// `name` is null or ends with a NUL, and lives as long as is said.
unsafe fn text<'a>(name: *const c_char) -> Option<&'a str> {
    if name.is_null() {
        return None;
    }
    // SAFETY: not null, and the caller says the rest.
    unsafe { CStr::from_ptr(name) }.to_str().ok()
}

/// Returns the open file behind a handle.
///
/// # Safety
/// `file` was opened by [`open`] and is not closed.
unsafe fn opened<'a>(file: *mut sys::sqlite3_file) -> Option<&'a OpenFile> {
    // SAFETY: SQLite allocated `szOsFile` bytes for it, `open` wrote them, and the box lives until `close`.
    unsafe { file.cast::<Handle>().as_ref().and_then(|handle| handle.file.as_ref()) }
}

/// Writes an answer where SQLite wants it.
///
/// # Safety
/// `place` is null or may be written.
unsafe fn answer<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: not null, and the caller says the rest.
        unsafe { place.write(value) };
    }
}

unsafe extern "C" fn open(
    _vfs: *mut sys::sqlite3_vfs,
    name: sys::sqlite3_filename,
    file: *mut sys::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    let handle = file.cast::<Handle>();
    // SAFETY: SQLite gives `szOsFile` bytes of its own, and a name that lives as long as the file is open.
    let name = unsafe {
        handle.write(Handle { base: sys::sqlite3_file { pMethods: ptr::null() }, file: ptr::null_mut() });
        text(name)
    };
    let file = match OpenFile::open(name, flags) {
        Ok(file) => Box::into_raw(Box::new(file)),
        Err(code) => return code,
    };
    // SAFETY: as above; with its methods set, SQLite will close the file.
    unsafe {
        handle.write(Handle { base: sys::sqlite3_file { pMethods: &raw const METHODS }, file });
        answer(out_flags, flags);
    }
    sys::SQLITE_OK
}

unsafe extern "C" fn close(file: *mut sys::sqlite3_file) -> c_int {
    // SAFETY: SQLite closes a file that `open` opened, once.
    let handle = unsafe { &mut *file.cast::<Handle>() };
    let opened = std::mem::replace(&mut handle.file, ptr::null_mut());
    if !opened.is_null() {
        // SAFETY: it came from a box, and there is no other reference to it.
        unsafe { Box::from_raw(opened) }.close();
    }
    sys::SQLITE_OK
}

unsafe extern "C" fn read(file: *mut sys::sqlite3_file, into: *mut c_void, count: c_int, at: i64) -> c_int {
    let (Ok(count), Ok(at)) = (usize::try_from(count), usize::try_from(at)) else { return sys::SQLITE_IOERR };
    // SAFETY: the file is open, and `count` bytes may be written; what they hold before does not matter for bytes, and they
    // are set first.
    let (file, into) = unsafe {
        into.cast::<u8>().write_bytes(0, count);
        (opened(file), slice::from_raw_parts_mut(into.cast::<u8>(), count))
    };
    file.map_or(sys::SQLITE_IOERR, |file| code(file.read(into, at)))
}

unsafe extern "C" fn write(
    file: *mut sys::sqlite3_file,
    bytes: *const c_void,
    count: c_int,
    at: i64,
) -> c_int {
    let (Ok(count), Ok(at)) = (usize::try_from(count), usize::try_from(at)) else { return sys::SQLITE_IOERR };
    // SAFETY: the file is open, and there are `count` bytes.
    let (file, bytes) = unsafe { (opened(file), slice::from_raw_parts(bytes.cast::<u8>(), count)) };
    file.map_or(sys::SQLITE_IOERR, |file| code(file.write(bytes, at)))
}

unsafe extern "C" fn truncate(file: *mut sys::sqlite3_file, len: i64) -> c_int {
    let Ok(len) = usize::try_from(len) else { return sys::SQLITE_IOERR };
    // SAFETY: the file is open.
    unsafe { opened(file) }.map_or(sys::SQLITE_IOERR, |file| code(file.truncate(len)))
}

unsafe extern "C" fn sync(file: *mut sys::sqlite3_file, _flags: c_int) -> c_int {
    // SAFETY: the file is open.
    unsafe { opened(file) }.map_or(sys::SQLITE_IOERR, |file| code(file.flush()))
}

unsafe extern "C" fn file_size(file: *mut sys::sqlite3_file, size: *mut i64) -> c_int {
    // SAFETY: the file is open.
    let Some(file) = (unsafe { opened(file) }) else { return sys::SQLITE_IOERR };
    code(file.size().map(|len| {
        // SAFETY: SQLite waits for the length there.
        unsafe { answer(size, i64::try_from(len).unwrap_or(i64::MAX)) };
    }))
}

unsafe extern "C" fn lock(file: *mut sys::sqlite3_file, level: c_int) -> c_int {
    // SAFETY: the file is open.
    unsafe { opened(file) }.map_or(sys::SQLITE_IOERR, |file| code(file.lock(level)))
}

unsafe extern "C" fn unlock(file: *mut sys::sqlite3_file, level: c_int) -> c_int {
    // SAFETY: the file is open.
    if let Some(file) = unsafe { opened(file) } {
        file.unlock(level);
    }
    sys::SQLITE_OK
}

unsafe extern "C" fn check_reserved_lock(file: *mut sys::sqlite3_file, out: *mut c_int) -> c_int {
    // SAFETY: the file is open.
    let Some(file) = (unsafe { opened(file) }) else { return sys::SQLITE_IOERR };
    code(file.is_reserved().map(|reserved| {
        // SAFETY: SQLite waits for the answer there.
        unsafe { answer(out, c_int::from(reserved)) };
    }))
}

unsafe extern "C" fn file_control(_file: *mut sys::sqlite3_file, what: c_int, out: *mut c_void) -> c_int {
    match what {
        sys::SQLITE_FCNTL_HAS_MOVED => {
            // SAFETY: for this question SQLite gives the place of a `c_int`.
            unsafe { answer(out.cast::<c_int>(), 0) };
            sys::SQLITE_OK
        }
        // Hints, which may be ignored.
        sys::SQLITE_FCNTL_SIZE_HINT | sys::SQLITE_FCNTL_CHUNK_SIZE => sys::SQLITE_OK,
        _ => sys::SQLITE_NOTFOUND,
    }
}

unsafe extern "C" fn sector_size(_file: *mut sys::sqlite3_file) -> c_int {
    c_int::try_from(SECTOR).unwrap_or_default()
}

/// A write leaves the bytes beside it alone, as SQLite assumes of every disk on Unix; no write is atomic.
unsafe extern "C" fn device_characteristics(_file: *mut sys::sqlite3_file) -> c_int {
    sys::SQLITE_IOCAP_POWERSAFE_OVERWRITE
}

unsafe extern "C" fn shm_map(
    file: *mut sys::sqlite3_file,
    number: c_int,
    size: c_int,
    make: c_int,
    out: *mut *mut c_void,
) -> c_int {
    let (Ok(number), Ok(size)) = (usize::try_from(number), usize::try_from(size)) else {
        return sys::SQLITE_IOERR;
    };
    // SAFETY: the file is open, and SQLite waits for an address at `out`.
    let Some(file) = (unsafe {
        answer(out, ptr::null_mut());
        opened(file)
    }) else {
        return sys::SQLITE_IOERR;
    };
    let missing = if make == 0 { MissingPiece::Leave } else { MissingPiece::Make };
    code(file.map(number, size, missing).map(|piece| {
        // SAFETY: as above. The piece is atomic memory that is freed after the last connection has unmapped it.
        unsafe { answer(out, piece.map_or(ptr::null_mut(), <*mut u8>::cast)) };
    }))
}

unsafe extern "C" fn shm_lock(
    file: *mut sys::sqlite3_file,
    first: c_int,
    count: c_int,
    flags: c_int,
) -> c_int {
    let bits = |n: c_int| 1_u32.checked_shl(n.unsigned_abs()).unwrap_or_default();
    let slots = bits(first + count).wrapping_sub(bits(first));
    // SAFETY: the file is open.
    unsafe { opened(file) }.map_or(sys::SQLITE_IOERR, |file| code(file.lock_slots(slots, flags)))
}

unsafe extern "C" fn shm_barrier(_file: *mut sys::sqlite3_file) {
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
}

unsafe extern "C" fn shm_unmap(file: *mut sys::sqlite3_file, _delete: c_int) -> c_int {
    // SAFETY: the file is open, and SQLite uses no piece of it after this.
    if let Some(file) = unsafe { opened(file) } {
        file.unmap();
    }
    sys::SQLITE_OK
}

unsafe extern "C" fn delete(_vfs: *mut sys::sqlite3_vfs, name: *const c_char, sync: c_int) -> c_int {
    // SAFETY: SQLite gives a name.
    let name = unsafe { text(name) };
    let folder = if sync == 0 { FolderSync::Unflushed } else { FolderSync::Flushed };
    name.map_or(sys::SQLITE_IOERR_DELETE, |name| code(open_file::delete(name, folder)))
}

unsafe extern "C" fn access(
    _vfs: *mut sys::sqlite3_vfs,
    name: *const c_char,
    _flags: c_int,
    out: *mut c_int,
) -> c_int {
    // SAFETY: SQLite gives a name.
    let Some(name) = (unsafe { text(name) }) else { return sys::SQLITE_IOERR_ACCESS };
    code(open_file::exists(name).map(|there| {
        // SAFETY: SQLite waits for the answer there.
        unsafe { answer(out, c_int::from(there)) };
    }))
}

/// Names are complete as they are.
unsafe extern "C" fn full_pathname(
    _vfs: *mut sys::sqlite3_vfs,
    name: *const c_char,
    room: c_int,
    out: *mut c_char,
) -> c_int {
    // SAFETY: SQLite gives a name that ends with a NUL.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes_with_nul();
    if usize::try_from(room).is_ok_and(|room| name.len() <= room) {
        // SAFETY: there is room for `room` bytes, and the two do not overlap.
        unsafe { out.copy_from_nonoverlapping(name.as_ptr().cast(), name.len()) };
        sys::SQLITE_OK
    } else {
        sys::SQLITE_CANTOPEN
    }
}

/// The same bytes each time; SQLite asks its default file system for the randomness that it needs.
unsafe extern "C" fn randomness(_vfs: *mut sys::sqlite3_vfs, count: c_int, out: *mut c_char) -> c_int {
    let mut dice = Dice::new(0);
    for place in 0..usize::try_from(count).unwrap_or_default() {
        let byte = c_char::from_ne_bytes([dice.throw().to_le_bytes()[0]]);
        // SAFETY: there is room for `count` bytes.
        unsafe { out.add(place).write(byte) };
    }
    count
}

unsafe extern "C" fn sleep(_vfs: *mut sys::sqlite3_vfs, micros: c_int) -> c_int {
    let pause = Duration::from_micros(u64::try_from(micros).unwrap_or_default());
    #[expect(
        clippy::disallowed_methods,
        reason = "a connection waits for another one's lock on its own thread"
    )]
    std::thread::sleep(pause);
    micros
}

unsafe extern "C" fn current_time(_vfs: *mut sys::sqlite3_vfs, out: *mut f64) -> c_int {
    // SAFETY: SQLite waits for the time there.
    unsafe { answer(out, NOW as f64 / 86_400_000.0) };
    sys::SQLITE_OK
}

unsafe extern "C" fn current_time_int64(_vfs: *mut sys::sqlite3_vfs, out: *mut i64) -> c_int {
    // SAFETY: SQLite waits for the time there.
    unsafe { answer(out, NOW) };
    sys::SQLITE_OK
}

unsafe extern "C" fn get_last_error(_vfs: *mut sys::sqlite3_vfs, _room: c_int, _out: *mut c_char) -> c_int {
    sys::SQLITE_OK
}
