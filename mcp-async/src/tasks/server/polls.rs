//! The rate at which clients poll tasks.

use std::collections::HashMap;
use std::sync::Arc;

use crate::sync::Lock;

/// The polls of tasks in their current poll intervals (TK-58).
#[derive(Default)]
pub(super) struct Polls(Lock<Windows>);

#[derive(Default)]
struct Windows {
    by_task: HashMap<Task, Window>,
    /// The size of the table at which the windows that have ended are removed next.
    prune_at: usize,
    /// The time until which ids that are not in the table are not counted.
    full_until: u64,
}

/// The principal that polls, and the id. Neither the owner nor the existence of the task is checked.
type Task = (Option<Arc<str>>, Box<str>);

struct Window {
    /// In milliseconds, as `now` is.
    ends: u64,
    count: u32,
}

impl Polls {
    /// Counts a poll of a task; `false` if there were `max` in the current interval, which lasts so many
    /// milliseconds. At the bound of ids, further ids are not counted.
    pub(super) fn count(
        &self,
        (owner, id): (&Option<Arc<str>>, &str),
        now: u64,
        interval: u64,
        max: u32,
    ) -> bool {
        let task = (owner.clone(), Box::from(id));
        let Windows {
            by_task,
            prune_at,
            full_until,
        } = &mut *self.0.lock();
        let ends = now.saturating_add(interval);
        if let Some(window) = by_task.get_mut(&task) {
            // A window that ends later than a new one would was made before the clock was set back.
            if now >= window.ends || window.ends > ends {
                *window = Window { ends, count: 0 };
            }
            window.count = window.count.saturating_add(1);
            return window.count <= max;
        }
        if by_task.len() >= *prune_at {
            if now < *full_until {
                return true;
            }
            by_task.retain(|_, window| now < window.ends);
            *prune_at = by_task.len().saturating_mul(2).clamp(FEW, MOST);
            // Otherwise the next search would follow soon.
            if by_task.len() > MOST / 8 * 7 {
                *full_until = ends;
                return true;
            }
            by_task.shrink_to(*prune_at);
        }
        by_task.insert(task, Window { ends, count: 1 });
        max > 0
    }
}

/// So many are not worth a search for those that have ended.
const FEW: usize = 64;
/// The most ids that are counted.
const MOST: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tk_58_polls_are_counted_for_each_interval() {
        let polls = Polls::default();
        let count = |task, now| polls.count((&None, task), now, 100, 2);
        assert_eq!([0, 50, 99].map(|now| count("a", now)), [true, true, false]);
        assert!(count("b", 99));
        assert_eq!(
            [100, 199, 199].map(|now| count("a", now)),
            [true, true, false]
        );
        assert!(count("a", 20), "the clock was set back");
        assert!(!polls.count((&None, "c"), 0, 100, 0));
    }

    #[test]
    fn intervals_that_have_ended_take_no_room() {
        let polls = Polls::default();
        for number in 0..100_000_u64 {
            polls.count((&None, &number.to_string()), number, 10, 1);
        }
        assert!(polls.0.lock().by_task.len() <= FEW);
    }

    #[test]
    fn polls_of_others_are_not_counted() {
        let polls = Polls::default();
        let [ada, eve] = ["ada", "eve"].map(|name| Some(Arc::from(name)));
        assert!(polls.count((&ada, "a"), 0, 10, 1));
        assert!(!polls.count((&ada, "a"), 0, 10, 1));
        assert!(polls.count((&eve, "a"), 0, 10, 1));
        assert!(polls.count((&None, "a"), 0, 10, 1));
    }

    #[test]
    fn ids_are_bounded_within_an_interval() {
        let polls = Polls::default();
        assert!(polls.count((&None, "known"), 0, 10, 1));
        for number in 0..200_000_u64 {
            polls.count((&None, &number.to_string()), number / 20_000, 10, 1);
        }
        assert_eq!(polls.0.lock().by_task.len(), MOST);
        assert!(!polls.count((&None, "known"), 9, 10, 1));
        assert!(polls.count((&None, "late"), 99, 10, 1));
        assert!(polls.0.lock().by_task.len() <= FEW);
    }
}
