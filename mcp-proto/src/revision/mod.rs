//! The differences between the revisions of the protocol, as tables.
//!
//! Code that depends on the revision asks [`Revision`] for a fact, such as
//! [`has_input_required`](Revision::has_input_required), and does not compare revisions. The members that
//! some revisions lack are left out where a message is written. A [`RevisionSet`] configures which
//! revisions a client or server accepts.

pub(crate) mod facts;
pub(crate) mod fields;
pub(crate) mod set;
pub(crate) mod version;

pub use facts::{Elicitation, Http, StructuredContent, Tasks};
pub use version::UnknownRevision;

// The crate exports these at its root.
pub(crate) use set::RevisionSet;
pub(crate) use version::Revision;
