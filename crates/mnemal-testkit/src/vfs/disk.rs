//! A simulated disk: live and durable images of files, directories, and pending faults.

use std::collections::BTreeMap;
use std::mem;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::callbacks;
use super::dice::Dice;
use super::fault::{DiskFault, Operation};
use super::image::{Image, SurvivingWrites};
use super::lock::FileLocks;
use super::shared_memory::SharedMemory;

/// All disks that files can be opened on, by the first part of the file's name.
static DISKS: Mutex<BTreeMap<String, Arc<Disk>>> = Mutex::new(BTreeMap::new());
/// Number of the next disk.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Returns the disk that a file name is on.
pub(super) fn find(name: &str) -> Option<Arc<Disk>> {
    let (disk, _) = name.split_once('/')?;
    DISKS.lock().unwrap_or_else(PoisonError::into_inner).get(disk).cloned()
}

/// A disk in memory with scripted faults, which loses unflushed data when its power is cut.
///
/// It is independent of all others: a file is on the disk whose [`path`](Self::path) opened it. When the disk is dropped, its
/// files live until the last connection to them closes.
#[derive(Debug)]
pub struct FaultyDisk {
    name: String,
    disk: Arc<Disk>,
}

impl FaultyDisk {
    /// Makes an empty disk; its randomness follows from the seed.
    pub fn new(seed: u64) -> Self {
        callbacks::register();
        let name = format!("disk{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let disk = Arc::new(Disk(Mutex::new(State::new(seed))));
        let mut disks = DISKS.lock().unwrap_or_else(PoisonError::into_inner);
        disks.insert(name.clone(), Arc::clone(&disk));
        Self { name, disk }
    }

    /// Returns the path to open a file of this disk by.
    pub fn path(&self, file: &str) -> PathBuf {
        PathBuf::from(self.full(file))
    }

    /// Returns the number of operations so far.
    pub fn operations(&self) -> u64 {
        self.disk.state().trace.len() as u64
    }

    /// Returns the operations so far, oldest first.
    pub fn trace(&self) -> Vec<Operation> {
        self.disk.state().trace.clone()
    }

    /// Schedules a fault once: at operation number `n`, counted from 1 as [`operations`](Self::operations) counts, or the first
    /// one after it that the fault [`suits`](DiskFault::suits).
    pub fn fail_at(&self, n: u64, fault: DiskFault) {
        self.disk.state().faults.push((n, fault));
    }

    /// Returns the number of faults that have occurred.
    pub fn struck(&self) -> u64 {
        self.disk.state().struck
    }

    /// Cancels the faults that have not occurred.
    pub fn forgive(&self) {
        self.disk.state().faults.clear();
    }

    /// Cuts the power in the middle of operation number `n`, counted from 1.
    pub fn cut_at(&self, n: u64) {
        self.disk.state().cut = Some(n);
    }

    /// Cuts the power: until the [`reboot`](Self::reboot) every operation fails.
    pub fn power_cut(&self) {
        self.disk.state().on = false;
    }

    /// Whether there is power.
    pub fn is_on(&self) -> bool {
        self.disk.state().on
    }

    /// Cuts the power if that is not done yet, and restarts with the disk's durable data: everything flushed, and of the rest
    /// what `keep` selects. Files that were open stay unusable.
    pub fn reboot(&self, keep: SurvivingWrites) {
        self.disk.state().reboot(keep);
    }

    /// Limits the further growth of all files together to this many bytes.
    pub fn fill_after(&self, bytes: u64) {
        let mut state = self.disk.state();
        state.limit = Some(state.used().saturating_add(bytes));
    }

    /// Stops the growth of all files from operation number `n` on, counted from 1.
    pub fn full_from(&self, n: u64) {
        self.disk.state().full_from = Some(n);
    }

    /// Ends the effect of [`fill_after`](Self::fill_after) or [`full_from`](Self::full_from).
    pub fn free_space(&self) {
        let mut state = self.disk.state();
        (state.limit, state.full_from) = (None, None);
    }

    /// Returns the bytes of a file as a reader sees them, or `None` where there is no such file.
    pub fn read(&self, file: &str) -> Option<Vec<u8>> {
        let state = self.disk.state();
        let inode = state.live.get(&self.full(file))?;
        state.inodes.get(inode).map(|inode| inode.image.live().to_vec())
    }

    /// Returns the bytes of a file that a power cut without mercy would leave.
    pub fn read_durable(&self, file: &str) -> Option<Vec<u8>> {
        let state = self.disk.state();
        let inode = state.durable.get(&self.full(file))?;
        state.inodes.get(inode).map(|inode| inode.image.durable().to_vec())
    }

    /// Puts a file on the disk, flushed, in place of one of this name.
    pub fn put(&self, file: &str, bytes: Vec<u8>) {
        let mut state = self.disk.state();
        let number = state.create(&self.full(file));
        if let Some(inode) = state.inodes.get_mut(&number) {
            inode.image = Image::flushed(bytes);
        }
        state.flush_directory();
    }

    fn full(&self, file: &str) -> String {
        format!("{}/{file}", self.name)
    }

    #[cfg(test)]
    pub(super) fn shared(&self) -> Arc<Disk> {
        Arc::clone(&self.disk)
    }
}

impl Drop for FaultyDisk {
    fn drop(&mut self) {
        DISKS.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.name);
    }
}

/// What open files share with the handle of the disk.
#[derive(Debug)]
pub(super) struct Disk(Mutex<State>);

impl Disk {
    /// Makes an unnamed disk, for a file without a name.
    pub(super) fn nameless() -> Arc<Self> {
        Arc::new(Self(Mutex::new(State::new(0))))
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A file.
#[derive(Debug, Default)]
pub(super) struct Inode {
    pub(super) image: Image,
    pub(super) locks: FileLocks,
    pub(super) shared: Option<Arc<SharedMemory>>,
    /// Open files that use it.
    pub(super) users: u64,
}

/// How an operation goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperationOutcome {
    /// As it should.
    Good,
    /// With a fault.
    Bad(DiskFault),
    /// The power goes while it runs; whether it is done is a matter of chance.
    Cut { done: bool },
}

/// Everything about a disk.
#[derive(Debug)]
pub(super) struct State {
    pub(super) dice: Dice,
    on: bool,
    /// How often it was started; an open file of an earlier time is dead.
    pub(super) boot: u64,
    trace: Vec<Operation>,
    faults: Vec<(u64, DiskFault)>,
    struck: u64,
    cut: Option<u64>,
    limit: Option<u64>,
    full_from: Option<u64>,
    next: u64,
    pub(super) inodes: BTreeMap<u64, Inode>,
    /// Names as programs see them.
    pub(super) live: BTreeMap<String, u64>,
    /// Names as they are on the disk.
    durable: BTreeMap<String, u64>,
}

impl State {
    fn new(seed: u64) -> Self {
        Self {
            dice: Dice::new(seed),
            on: true,
            boot: 0,
            trace: Vec::new(),
            faults: Vec::new(),
            struck: 0,
            cut: None,
            limit: None,
            full_from: None,
            next: 0,
            inodes: BTreeMap::new(),
            live: BTreeMap::new(),
            durable: BTreeMap::new(),
        }
    }

    /// Counts an operation and says how it goes on.
    ///
    /// # Errors
    /// SQLite's code of its failure, when there is no power.
    pub(super) fn begin(&mut self, operation: Operation) -> Result<OperationOutcome, i32> {
        if !self.on {
            return Err(operation.failure_code());
        }
        self.trace.push(operation);
        let number = self.trace.len() as u64;
        if self.cut.is_some_and(|cut| cut <= number) {
            self.on = false;
            return Ok(OperationOutcome::Cut { done: self.dice.happens(5) });
        }
        if self.full_from.is_some_and(|from| from <= number) {
            self.full_from = None;
            self.limit = Some(self.used());
        }
        let due = self.faults.iter().position(|(at, fault)| *at <= number && fault.suits(operation));
        Ok(match due {
            Some(place) => {
                self.struck += 1;
                OperationOutcome::Bad(self.faults.remove(place).1)
            }
            None => OperationOutcome::Good,
        })
    }

    /// Returns a number that nothing else of this disk has.
    pub(super) fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Makes an empty file of this name.
    pub(super) fn create(&mut self, name: &str) -> u64 {
        let number = self.number();
        self.inodes.insert(number, Inode::default());
        self.live.insert(name.to_owned(), number);
        number
    }

    /// Makes all names durable.
    pub(super) fn flush_directory(&mut self) {
        self.durable.clone_from(&self.live);
        self.sweep();
    }

    /// Whether the names as programs see them are on the disk.
    pub(super) fn directory_is_flushed(&self, inode: u64) -> bool {
        self.durable.values().any(|number| *number == inode)
    }

    /// Frees the files that have no name and no user.
    pub(super) fn sweep(&mut self) {
        let (live, durable) = (&self.live, &self.durable);
        let named = |number: u64| live.values().chain(durable.values()).any(|known| *known == number);
        self.inodes.retain(|number, inode| inode.users > 0 || named(*number));
    }

    /// Bytes of all files.
    fn used(&self) -> u64 {
        self.inodes.values().map(|inode| inode.image.live().len() as u64).sum()
    }

    /// Whether files may grow by so many bytes.
    pub(super) fn has_room(&self, growth: usize) -> bool {
        growth == 0 || self.limit.is_none_or(|limit| self.used() + growth as u64 <= limit)
    }

    fn reboot(&mut self, keep: SurvivingWrites) {
        self.on = true;
        self.boot += 1;
        self.cut = None;
        let names: Vec<String> = self.live.keys().chain(self.durable.keys()).cloned().collect();
        for name in names {
            let (now, then) = (self.live.get(&name).copied(), self.durable.get(&name).copied());
            let arrived = now != then && keep != SurvivingWrites::Nothing && self.dice.happens(5);
            match if arrived { now } else { then } {
                Some(number) => self.durable.insert(name, number),
                None => self.durable.remove(&name),
            };
        }
        self.live.clone_from(&self.durable);
        let mut inodes = mem::take(&mut self.inodes);
        for inode in inodes.values_mut() {
            inode.image.cut(keep, &mut self.dice);
            (inode.locks, inode.shared, inode.users) = (FileLocks::default(), None, 0);
        }
        self.inodes = inodes;
        self.sweep();
    }
}
