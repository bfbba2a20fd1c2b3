//! The declaration of an extension by a server.

use mcp_proto::RevisionSet;
use mcp_proto::json::RawBuf;
use mcp_proto::model::ServerFeatures;

use crate::server::items::register_error::RegisterError;

/// A registered extension.
#[derive(Clone)]
pub(in crate::server) struct Declaration {
    pub(in crate::server) name: String,
    pub(in crate::server) settings: RawBuf,
    pub(in crate::server) revisions: RevisionSet,
    /// The other capabilities that have to be declared (EX-19).
    pub(in crate::server) needs: ServerFeatures,
}

impl Declaration {
    /// Checks that the server declares what the extension needs.
    pub(in crate::server) fn check(&self, declared: ServerFeatures) -> Option<RegisterError> {
        let missing = self.needs.without(declared);
        let reason = format!("the server does not declare {missing:?}");
        (!missing.is_empty()).then(|| RegisterError::new("extension", &self.name, &reason))
    }
}
