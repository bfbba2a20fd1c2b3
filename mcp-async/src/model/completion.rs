//! Suggestions for an argument.

use super::{Completion, PromptReference, Reference, ResourceReference};

impl Reference {
    /// Creates the reference to a prompt by its name.
    pub fn prompt(name: impl Into<String>) -> Self {
        Self::Prompt(PromptReference {
            name: name.into(),
            title: None,
        })
    }

    /// Creates the reference to a resource by its URI, or to a template by its own.
    pub fn resource(uri: impl Into<String>) -> Self {
        Self::Resource(ResourceReference { uri: uri.into() })
    }
}

impl Completion {
    /// The most suggestions that one answer may hold.
    pub const MAX_VALUES: usize = 100;

    /// Returns the candidates that fit the text typed so far, the first [`MAX_VALUES`](Self::MAX_VALUES) of them, and their total number.
    ///
    /// Candidates that begin with the text come first, then those that contain it elsewhere, each group in the given order.
    /// Upper and lower case are equal. All candidates fit an empty text. Any number of candidates can be
    /// given: no more of them are kept than are returned.
    ///
    /// ```
    /// use mcp_async::model::Completion;
    ///
    /// let found = Completion::matching("Ky", ["Tokyo", "Kyoto", "Osaka", "kyiv"]);
    /// assert_eq!(found.values, ["Kyoto", "kyiv", "Tokyo"]);
    /// assert_eq!((found.total, found.has_more), (Some(3), false));
    /// ```
    pub fn matching<T: AsRef<str> + Into<String>>(
        typed: &str,
        candidates: impl IntoIterator<Item = T>,
    ) -> Self {
        let typed = typed.to_lowercase();
        let (mut first, mut second) = (Vec::new(), Vec::new());
        let mut total = 0;
        for candidate in candidates {
            let found = match candidate.as_ref().to_lowercase().find(&typed) {
                Some(0) => &mut first,
                Some(_) => &mut second,
                None => continue,
            };
            total += 1;
            if found.len() < Self::MAX_VALUES {
                found.push(candidate.into());
            }
        }
        first.append(&mut second);
        first.truncate(Self::MAX_VALUES);
        Self::of(first, total)
    }

    /// The first values of so many.
    fn of(values: Vec<String>, total: u64) -> Self {
        Self {
            has_more: total > values.len() as u64,
            total: Some(total),
            values,
        }
    }
}

/// The first [`MAX_VALUES`](Completion::MAX_VALUES) of them, and their total number.
impl<T: Into<String>> FromIterator<T> for Completion {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut all = values.into_iter();
        let first = all.by_ref().take(Self::MAX_VALUES).map(Into::into);
        let values: Vec<String> = first.collect();
        let total = (values.len() as u64).saturating_add(all.count() as u64);
        Self::of(values, total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(typed: &str, candidates: &[&str], expected: &[&str]) {
        let found = Completion::matching(typed, candidates.iter().copied());
        assert_eq!(found.values, expected);
        let total = expected.len() as u64;
        assert_eq!((found.total, found.has_more), (Some(total), false));
    }

    /// CP-03
    #[test]
    fn candidates_that_begin_with_the_text_come_first() {
        let cities = ["Tokyo", "Kyoto", "Osaka", "kyiv"];
        check("", &cities, &cities);
        check("ky", &cities, &["Kyoto", "kyiv", "Tokyo"]);
        check("KYO", &cities, &["Kyoto", "Tokyo"]);
        check("a", &cities, &["Osaka"]);
        check("x", &cities, &[]);
        check("Ärz", &["März", "ärztin", "Arzt"], &["ärztin", "März"]);
        check("ß", &["Gruß", "Gruss"], &["Gruß"]);
        check("İ", &["İstanbul"], &["İstanbul"]);
        check("longer than all", &["long"], &[]);
    }

    /// CP-02
    #[test]
    fn a_hundred_values_and_the_number_of_all() {
        let inside = (0..1_000).map(|n| format!("an item {n}"));
        let begins = (0..99).map(|n| format!("Item {n}"));
        let found = Completion::matching("item", inside.chain(begins));
        assert_eq!(found.values.len(), 100);
        assert_eq!(found.values[98..], ["Item 98", "an item 0"]);
        assert_eq!((found.total, found.has_more), (Some(1_099), true));
        for (count, has_more) in [(100, false), (101, true)] {
            let all = (0..count).map(|n: u64| n.to_string());
            let found = Completion::matching("", all.clone());
            assert_eq!(found, Completion::from_iter(all));
            assert_eq!((found.values.len(), found.has_more), (100, has_more));
            assert_eq!(found.total, Some(count));
        }
    }
}
