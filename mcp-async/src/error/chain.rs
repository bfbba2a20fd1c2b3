//! An error with its sources, as text.

use core::fmt;

/// Displays an error and its sources, separated by colons.
///
/// An error of this crate that has a source does not repeat its text, so a program that prints
/// errors prints this.
///
/// ```
/// use mcp_async::client::CallError;
/// use mcp_async::{ErrorChain, ErrorReply};
///
/// let error = CallError::Server(ErrorReply::new(1, "out of paper"));
/// assert_eq!(error.to_string(), "the server answered with an error");
/// assert_eq!(
///     ErrorChain(&error).to_string(),
///     "the server answered with an error: out of paper (code 1)",
/// );
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ErrorChain<'a>(pub &'a (dyn core::error::Error + 'a));

impl fmt::Display for ErrorChain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut next = self.0.source();
        while let Some(source) = next {
            write!(f, ": {source}")?;
            next = source.source();
        }
        Ok(())
    }
}
