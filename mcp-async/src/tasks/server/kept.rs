//! The tasks that this process has created and the store still has, and their bounds.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use crate::shrink::shrink;

/// Tasks by the order of their creation.
#[derive(Default)]
pub(super) struct KeptTasks {
    tasks: BTreeMap<u64, KeptTask>,
    owners: HashMap<Owner, OwnedTasks>,
    /// Those that have ended.
    ended: BTreeSet<u64>,
    /// The bytes of those.
    bytes: usize,
    /// The owners, by the bytes of their ended tasks.
    by_bytes: BTreeSet<(usize, Owner)>,
    /// The times at which ended tasks are forgotten.
    leaving: BTreeSet<(u64, u64)>,
    /// The changes that the store has not made yet.
    repairs: VecDeque<Repair>,
    /// The number of the newest task.
    last: u64,
}

/// The principal of tasks; `None` for those of clients without one.
type Owner = Option<Arc<str>>;

struct KeptTask {
    id: Arc<str>,
    owner: Owner,
    leaves: Option<u64>,
    /// Of its record, once it has ended.
    bytes: usize,
}

#[derive(Default)]
struct OwnedTasks {
    count: usize,
    ended: BTreeSet<u64>,
    /// The bytes of those.
    bytes: usize,
}

impl KeptTasks {
    /// Counts a new task, and returns its number. At a bound the oldest task that has ended is taken
    /// out, and returned, to be removed from the store: one of the same owner if there is one.
    pub(super) fn add(
        &mut self,
        id: &Arc<str>,
        owner: &Owner,
        bounds: Bounds,
    ) -> Result<(u64, Option<Arc<str>>), &'static str> {
        let removed = match self.is_full(owner, bounds) {
            None => None,
            Some(limit) => Some(self.oldest(owner, limit).ok_or(limit)?),
        };
        let removed = removed.and_then(|number| self.remove(number));
        self.last = self.last.wrapping_add(1);
        let task = KeptTask {
            id: Arc::clone(id),
            owner: owner.clone(),
            leaves: None,
            bytes: 0,
        };
        self.tasks.insert(self.last, task);
        let owned = self.owners.entry(owner.clone()).or_default();
        owned.count = owned.count.saturating_add(1);
        Ok((self.last, removed))
    }

    /// Returns an error with the limit if there is no place for a further task of this owner.
    pub(super) fn may_add(&self, owner: &Owner, bounds: Bounds) -> Result<(), &'static str> {
        match self.is_full(owner, bounds) {
            Some(limit) if self.oldest(owner, limit).is_none() => Err(limit),
            _ => Ok(()),
        }
    }

    /// The bound that a further task of this owner would exceed.
    fn is_full(&self, owner: &Owner, bounds: Bounds) -> Option<&'static str> {
        let of_owner = self.owners.get(owner).map_or(0, |owned| owned.count);
        if owner.is_some() && of_owner >= bounds.per_owner {
            return Some(OF_OWNER);
        }
        (self.tasks.len() >= bounds.all).then_some(ALL)
    }

    /// The task that gives its place to another one of this owner.
    fn oldest(&self, owner: &Owner, limit: &'static str) -> Option<u64> {
        let owned = self.owners.get(owner);
        let owned = owned.and_then(|owned| owned.ended.first());
        let any = || self.ended.first().filter(|_| limit == ALL);
        owned.or_else(any).copied()
    }

    /// Notes when the task is forgotten.
    pub(super) fn leaves(&mut self, number: u64, at: u64) {
        if let Some(task) = self.tasks.get_mut(&number) {
            task.leaves = Some(at);
            self.leaving.insert((at, number));
        }
    }

    /// Notes that the task has ended, with a record of so many bytes. While those of all have more than
    /// `max_bytes`, the oldest tasks are removed: those of the owner who has the most, and never this one.
    pub(super) fn end(&mut self, number: u64, bytes: usize, max_bytes: usize) {
        let Some(task) = self.tasks.get_mut(&number) else {
            return;
        };
        task.bytes = bytes;
        let owner = task.owner.clone();
        self.count_bytes(&owner, |all| all.saturating_add(bytes));
        while self.bytes > max_bytes
            && let Some(oldest) = self.oldest_of_largest()
            && let Some(id) = self.remove(oldest)
        {
            self.repairs.push_back(Repair::Remove(id));
        }
        self.ended.insert(number);
        if let Some(owned) = self.owners.get_mut(&owner) {
            owned.ended.insert(number);
        }
    }

    /// The oldest ended task of the owner who has the most bytes of those.
    fn oldest_of_largest(&self) -> Option<u64> {
        let mut owners = self.by_bytes.iter().rev();
        owners.find_map(|(_, owner)| self.owners.get(owner)?.ended.first().copied())
    }

    /// Changes the number of bytes of an owner, and that of all.
    fn count_bytes(&mut self, owner: &Owner, change: impl Fn(usize) -> usize) {
        let Some(owned) = self.owners.get_mut(owner) else {
            return;
        };
        self.by_bytes.remove(&(owned.bytes, owner.clone()));
        owned.bytes = change(owned.bytes);
        if owned.bytes > 0 {
            self.by_bytes.insert((owned.bytes, owner.clone()));
        }
        self.bytes = change(self.bytes);
    }

    /// Notes what the store has to change.
    pub(super) fn repair(&mut self, repair: Repair) {
        self.repairs.push_back(repair);
    }

    /// Returns true if the store has to remove tasks that made room for others.
    pub(super) fn has_removals(&self) -> bool {
        let mut repairs = self.repairs.iter();
        repairs.any(|repair| matches!(repair, Repair::Remove(_)))
    }

    /// Returns what the store has to change. The caller adds those that fail again.
    pub(super) fn take_repairs(&mut self) -> VecDeque<Repair> {
        core::mem::take(&mut self.repairs)
    }

    /// The task counts no more. Returns its id.
    pub(super) fn remove(&mut self, number: u64) -> Option<Arc<str>> {
        let KeptTask {
            id,
            owner,
            leaves,
            bytes,
        } = self.tasks.remove(&number)?;
        self.ended.remove(&number);
        self.count_bytes(&owner, |all| all.saturating_sub(bytes));
        if let Some(at) = leaves {
            self.leaving.remove(&(at, number));
        }
        if let Some(owned) = self.owners.get_mut(&owner) {
            owned.ended.remove(&number);
            owned.count = owned.count.saturating_sub(1);
            if owned.count == 0 {
                self.owners.remove(&owner);
            }
        }
        shrink(&mut self.owners);
        Some(id)
    }

    /// The tasks that are forgotten at this time count no more.
    pub(super) fn forget_until(&mut self, now: u64) {
        while let Some(&(at, number)) = self.leaving.first()
            && at <= now
        {
            self.leaving.remove(&(at, number));
            self.remove(number);
        }
    }

    /// Returns true if there is neither a task nor a change that the store has to make.
    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.repairs.is_empty()
    }
}

/// A change that the store has not made yet.
pub(super) enum Repair {
    /// The task of this id made room for another one.
    Remove(Arc<str>),
    /// The task of this id has ended here, but not in the store: it fails with this message.
    Fail(Arc<str>, &'static str),
}

/// The bounds of the number of tasks that are kept.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    pub(super) all: usize,
    pub(super) per_owner: usize,
}

const ALL: &str = "limit reached: tasks";
/// The refusal of one principal, while others may have further tasks.
pub(super) const OF_OWNER: &str = "limit reached: tasks of one principal";
