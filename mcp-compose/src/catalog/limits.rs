//! The bounds of a catalog.

use core::time::Duration;

/// The bounds of what a [`Catalog`](super::Catalog) takes. A list beyond one is an error of its server; the items that
/// the server had before stay.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CatalogLimits {
    /// The items of one list of one server, 10,000 by default. A template counts once for each of its
    /// variables, at least once, and only here.
    pub items_per_list: usize,
    /// The items of all lists of one server, 20,000 by default: no server takes the room of the others.
    pub items_per_server: usize,
    /// The bytes of all items of one server as JSON, 16 MiB by default.
    pub bytes_per_server: usize,
    /// The items of all lists of all servers, 100,000 by default.
    pub items: usize,
    /// The bytes of all items as JSON, 64 MiB by default. Names, the texts that are searched and indexes come on top: at
    /// most as much again.
    pub bytes: usize,
    /// The pages of one list, 1,000 by default.
    pub pages: usize,
    /// The time to read one list with all its pages, 60 s by default.
    pub time: Duration,
}

impl Default for CatalogLimits {
    fn default() -> Self {
        Self {
            items_per_list: 10_000,
            items_per_server: 20_000,
            bytes_per_server: 16 << 20,
            items: 100_000,
            bytes: 64 << 20,
            pages: 1_000,
            time: Duration::from_secs(60),
        }
    }
}
