//! The error of a response.

use crate::json::{Raw, Str};

/// The error of a request, in the place of its result.
#[derive(Clone, Copy, Debug)]
pub struct ErrorObject<'b> {
    /// The code of the error; the module [`code`](super::code) names those of MCP.
    pub code: i64,
    /// One short sentence (JR-13).
    pub message: Str<'b>,
    /// Further data about the error, of any type (JR-14).
    pub data: Option<Raw<'b>>,
}

impl<'b> ErrorObject<'b> {
    /// An error without data.
    pub fn new(code: i64, message: &'b str) -> Self {
        Self {
            code,
            message: Str::from(message),
            data: None,
        }
    }
}
