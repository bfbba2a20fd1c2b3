//! The differences between the revisions of the protocol, as tables.
//!
//! Code that depends on the revision asks [`Revision`] for a fact, such as
//! [`allows_batches`](Revision::allows_batches), and does not compare revisions. [`fields`] lists the
//! members that some revisions lack. A [`RevisionSet`] configures which revisions a
//! client or server accepts.

pub mod fields;

// The crate exports the revisions, their sets and their eras at its root.
pub(crate) mod facts;
pub(crate) mod set;
pub(crate) mod version;

pub use facts::{Elicitation, Http, StructuredContent, Tasks};
pub use set::Revisions;
pub use version::UnknownRevision;

pub(crate) use facts::Era;
pub(crate) use set::RevisionSet;
pub(crate) use version::Revision;
