//! The resources whose changes are reported in a session.

use std::collections::HashMap;

use crate::watch::Watch;

/// The resources whose changes are reported in a session, each once, and those that wait for a subscription.
#[derive(Default)]
pub(in crate::proxy) struct Followed(Watch<HashMap<String, Stage>>);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Waits,
    Subscribed,
}

impl Followed {
    /// Adds a resource, which waits for a subscription. Returns false if it is there already, or too many wait.
    pub(in crate::proxy) fn add(&self, uri: &str) -> bool {
        self.0.change(|stages| {
            if stages.contains_key(uri) || count(stages, Stage::Waits) >= WAITING {
                return false;
            }
            stages.insert(uri.to_owned(), Stage::Waits);
            true
        })
    }

    pub(in crate::proxy) fn remove(&self, uri: &str) {
        self.0.change(|stages| stages.remove(uri));
    }

    /// Lets a resource have one of so many subscriptions. A caller has at most as many of them as are still free; `share` returns the number
    /// that the caller has. Returns false if the resource has to wait.
    pub(in crate::proxy) fn enter(
        &self,
        uri: &str,
        most: usize,
        share: impl FnOnce() -> usize,
    ) -> bool {
        let taken = self.0.read(|stages| count(stages, Stage::Subscribed));
        let free = most.saturating_sub(taken);
        // No caller has more of them than all have together.
        let enters = taken < free || (free > 0 && share() < free);
        if enters {
            self.set(uri, Stage::Subscribed);
        }
        enters
    }

    /// Lets a resource wait again that could not be subscribed to.
    pub(in crate::proxy) fn leave(&self, uri: &str) {
        self.set(uri, Stage::Waits);
    }

    /// Returns true if the resource has a subscription.
    pub(in crate::proxy) fn is_subscribed(&self, uri: &str) -> bool {
        self.0
            .read(|stages| stages.get(uri) == Some(&Stage::Subscribed))
    }

    fn set(&self, uri: &str, stage: Stage) {
        self.0.change(|stages| {
            if let Some(place) = stages.get_mut(uri) {
                *place = stage;
            }
        });
    }
}

fn count(stages: &HashMap<String, Stage>, stage: Stage) -> usize {
    stages.values().filter(|other| **other == stage).count()
}

/// The resources of a session that wait for a subscription. A caller may watch 1,000 resources.
const WAITING: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_has_as_many_subscriptions_as_are_free() {
        let (followed, most) = (Followed::default(), 8);
        let enters = |uri: &str, share: usize| {
            assert!(followed.add(uri));
            followed.enter(uri, most, || share)
        };
        let first = ["0", "1", "2", "3", "4"].map(|uri| (uri, uri.parse().unwrap_or_default()));
        let entered = first.map(|(uri, share)| enters(uri, share));
        assert_eq!(entered, [true, true, true, true, false]);
        // Others find the other half.
        assert_eq!(["a", "b", "c"].map(|uri| enters(uri, 0)), [true; 3]);
        assert!(!enters("d", 1));
        assert!(!followed.add("a"));
        assert!(enters("e", 0));
        assert!(!enters("f", 0));
        for uri in ["0", "1", "2"] {
            followed.remove(uri);
        }
        followed.leave("3");
        assert!(!followed.is_subscribed("3"));
        assert!(followed.enter("f", most, || 0) && followed.is_subscribed("f"));
    }

    #[test]
    fn those_that_wait_are_bounded() {
        let followed = Followed::default();
        let added = (0..WAITING + 5).filter(|number| followed.add(&number.to_string()));
        assert_eq!(added.count(), WAITING);
        assert!(followed.enter("0", 1, || 0));
        assert!(followed.add("one more"));
    }
}
