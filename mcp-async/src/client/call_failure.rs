//! The failure that the span of a call records for an error.

use crate::error::CallError;
use crate::observe;

impl observe::CallFailure for CallError {
    fn failure(&self) -> observe::Failure {
        match self {
            Self::Server(error) | Self::Input(error) => observe::Failure::Code(error.code),
            Self::Timeout => observe::Failure::PeerTimeout,
            _ => observe::Failure::Here,
        }
    }
}
