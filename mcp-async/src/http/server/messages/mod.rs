//! Requests as the core reads them, and responses.

pub(super) mod access_error;
pub(super) mod answer;
pub(super) mod authenticate;
pub(super) mod body;
pub(super) mod collect;
pub(super) mod head;
