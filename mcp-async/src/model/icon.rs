//! Icons.

use super::Icon;

impl Icon {
    /// A picture by its address.
    pub fn new(src: impl Into<String>) -> Self {
        Self {
            src: src.into(),
            ..Self::default()
        }
    }

    /// Returns true if the source may be fetched: only `https:` and `data:` may, without
    /// credentials, and without following a redirect to elsewhere.
    pub fn is_acceptable(&self) -> bool {
        let scheme = self.src.split_once(':').map(|(scheme, _)| scheme);
        scheme.is_some_and(|scheme| {
            ["https", "data"]
                .iter()
                .any(|allowed| scheme.eq_ignore_ascii_case(allowed))
        })
    }
}
