//! The state of calls that ask: the questions of a call by key, and the sealed state that brings them back in the next round.

mod canonical;
pub(super) mod keys;
pub(super) mod round;
mod table;

pub(crate) use self::keys::DerivedKeys;
pub use self::keys::StateKeys;

pub(super) use self::table::SuspendedCall;
pub(crate) use self::table::{EndedCall, Rounds};
