//! The settings of a capability.

use crate::json::{Map, Raw};

/// The settings of a capability, of which most have none.
pub type Settings<'b> = Map<'b, Raw<'b>>;
