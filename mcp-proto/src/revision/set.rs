//! Sets of revisions.

use core::iter::Flatten;
use core::{array, fmt};

use super::Revision;

/// A set of revisions, such as those that one side of a connection accepts.
///
/// ```
/// use mcp_proto::{Revision, RevisionSet};
///
/// let accepted = RevisionSet::at_least(Revision::V2025_06_18);
/// assert!(!accepted.contains(Revision::V2025_03_26));
/// assert_eq!(accepted.newest_legacy(), Some(Revision::V2025_11_25));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RevisionSet(u8);

impl RevisionSet {
    /// No revision.
    pub const EMPTY: Self = Self(0);

    /// Every published revision. The draft is not among them: who wants it, [adds](Self::with) it.
    pub const fn all() -> Self {
        Self::at_least(Revision::V2024_11_05)
    }

    /// The published revisions that open with a handshake.
    pub const fn legacy() -> Self {
        Self::of(&[
            Revision::V2024_11_05,
            Revision::V2025_03_26,
            Revision::V2025_06_18,
            Revision::V2025_11_25,
        ])
    }

    /// The revisions that describe themselves on each request.
    pub const fn modern() -> Self {
        Self::of(&[Revision::V2026_07_28])
    }

    /// This revision and every published one after it: a minimum, in one call.
    pub const fn at_least(minimum: Revision) -> Self {
        let from = u8::MAX << minimum as u8;
        let published = Self::legacy().0 | Self::modern().0;
        Self(from & published).with(minimum)
    }

    /// The revisions of a list.
    pub const fn of(list: &[Revision]) -> Self {
        let mut set = Self::EMPTY;
        let mut rest = list;
        while let [first, others @ ..] = rest {
            set = set.with(*first);
            rest = others;
        }
        set
    }

    /// This set and one revision more.
    pub const fn with(self, revision: Revision) -> Self {
        Self(self.0 | 1 << revision as u8)
    }

    /// This set without one revision.
    pub const fn without(self, revision: Revision) -> Self {
        Self(self.0 & !(1 << revision as u8))
    }

    /// The revisions that are in both sets.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the revisions of this set that belong to an era whose flag is true.
    #[inline(always)]
    pub(crate) const fn of_eras(self, legacy: bool, modern: bool) -> Self {
        match (legacy, modern) {
            (true, true) => self,
            (true, false) => self.and(const { Self::legacy() }),
            (false, true) => self.and(const { Self::modern() }),
            (false, false) => Self::EMPTY,
        }
    }

    /// The revisions that are in either set.
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns true if the revision is in the set.
    pub const fn contains(self, revision: Revision) -> bool {
        self.0 & 1 << revision as u8 != 0
    }

    /// Returns true if the set has no revision.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the number of revisions.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Returns true if the set has a revision that opens with a handshake, be it the draft.
    pub const fn has_legacy(self) -> bool {
        self.0 & !const { Self::modern() }.0 != 0
    }

    /// Returns true if the set has a revision that describes itself on each request.
    pub const fn has_modern(self) -> bool {
        !self.and(const { Self::modern() }).is_empty()
    }

    /// The revision to offer in a handshake, as client (LC-02) and as server (LC-04). The draft
    /// is offered only by a set that has no published revision of its era.
    pub fn newest_legacy(self) -> Option<Revision> {
        self.and(Self::legacy())
            .iter()
            .next()
            .or_else(|| self.newest(Revision::is_legacy))
    }

    /// The revision to probe a server with.
    pub fn newest_modern(self) -> Option<Revision> {
        self.newest(Revision::is_modern)
    }

    /// The revisions from the newest to the oldest.
    pub fn iter(self) -> impl Iterator<Item = Revision> + Clone {
        let newest_first = Revision::ALL.into_iter().rev();
        newest_first.filter(move |revision| self.contains(*revision))
    }

    fn newest(self, is_of_era: fn(Revision) -> bool) -> Option<Revision> {
        self.iter().find(|revision| is_of_era(*revision))
    }
}

impl Default for RevisionSet {
    /// [`all`](Self::all).
    fn default() -> Self {
        Self::all()
    }
}

impl FromIterator<Revision> for RevisionSet {
    fn from_iter<I: IntoIterator<Item = Revision>>(list: I) -> Self {
        list.into_iter().fold(Self::EMPTY, Self::with)
    }
}

/// The revisions from the newest to the oldest.
///
/// ```
/// use mcp_proto::RevisionSet;
///
/// for revision in RevisionSet::modern() {
///     assert!(revision.is_modern());
/// }
/// ```
impl IntoIterator for RevisionSet {
    type Item = Revision;
    type IntoIter = Flatten<array::IntoIter<Option<Revision>, { Revision::ALL.len() }>>;

    fn into_iter(self) -> Self::IntoIter {
        let mut newest_first = Revision::ALL;
        newest_first.reverse();
        let contained = newest_first.map(|revision| self.contains(revision).then_some(revision));
        contained.into_iter().flatten()
    }
}

/// Names the revisions, the newest first, as a refusal does.
impl fmt::Display for RevisionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, revision) in self.iter().enumerate() {
            if at > 0 {
                f.write_str(", ")?;
            }
            f.write_str(revision.as_str())?;
        }
        Ok(())
    }
}

impl fmt::Debug for RevisionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.iter().map(Revision::as_str))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Revision::*;

    #[test]
    fn minimum_is_every_later_one() {
        let all = [
            V2024_11_05,
            V2025_03_26,
            V2025_06_18,
            V2025_11_25,
            V2026_07_28,
        ];
        for (at, minimum) in all.into_iter().enumerate() {
            assert_eq!(RevisionSet::at_least(minimum), RevisionSet::of(&all[at..]));
        }
        assert_eq!(
            RevisionSet::at_least(DraftV1),
            RevisionSet::of(&[DraftV1, V2026_07_28])
        );
    }

    #[test]
    fn eras_part_the_published_ones() {
        let (legacy, modern) = (RevisionSet::legacy(), RevisionSet::modern());
        assert!(legacy.iter().all(Revision::is_legacy));
        assert!(modern.iter().all(Revision::is_modern));
        assert_eq!(legacy.or(modern), RevisionSet::all());
        assert!(legacy.and(modern).is_empty());
        assert!(!RevisionSet::all().contains(DraftV1));
    }

    #[test]
    fn newest_of_an_era() {
        fn check(set: RevisionSet, legacy: Option<Revision>, modern: Option<Revision>) {
            assert_eq!(
                (set.newest_legacy(), set.newest_modern()),
                (legacy, modern),
                "{set}"
            );
            assert_eq!(
                (set.has_legacy(), set.has_modern()),
                (legacy.is_some(), modern.is_some()),
                "{set}"
            );
        }
        check(RevisionSet::EMPTY, None, None);
        check(RevisionSet::all(), Some(V2025_11_25), Some(V2026_07_28));
        check(
            RevisionSet::all().with(DraftV1),
            Some(V2025_11_25),
            Some(V2026_07_28),
        );
        check(RevisionSet::of(&[DraftV1]), Some(DraftV1), None);
        check(
            RevisionSet::of(&[V2025_03_26, V2024_11_05]),
            Some(V2025_03_26),
            None,
        );
        check(RevisionSet::modern(), None, Some(V2026_07_28));
    }

    #[test]
    fn iterates_and_names_from_the_newest() {
        let set: RevisionSet = [V2024_11_05, V2026_07_28, DraftV1].into_iter().collect();
        assert!(set.iter().eq([V2026_07_28, DraftV1, V2024_11_05]));
        assert_eq!(set.len(), 3);
        #[cfg(feature = "alloc")]
        assert_eq!(
            alloc::string::ToString::to_string(&set),
            "2026-07-28, DRAFT-2026-v1, 2024-11-05"
        );
    }
}
