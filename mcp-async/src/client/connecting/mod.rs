//! The builder of a client, the ways to its server, and the connection that is opened again when it fails.

pub(crate) mod builder;
pub(super) mod builder_extensions;
pub(super) mod connector;
pub(crate) mod supervisor;
