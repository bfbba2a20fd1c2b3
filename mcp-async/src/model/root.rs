//! Directories that a client shows to a server.

use super::Root;

impl Root {
    /// An address, and nothing else.
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            ..Self::default()
        }
    }
}
