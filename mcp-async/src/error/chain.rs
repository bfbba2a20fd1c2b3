//! An error with its sources, as text.

use core::fmt;

/// Displays an error and its sources, separated by colons.
///
/// An error of this crate that has a source does not repeat its text, so a program that prints
/// errors prints this.
///
/// ```
/// use mcp_async::ErrorChain;
/// use mcp_async::client::CallError;
/// use mcp_async::SendError;
///
/// let error = CallError::Refused(SendError::Closed);
/// assert_eq!(error.to_string(), "the call was not sent");
/// assert_eq!(
///     ErrorChain(&error).to_string(),
///     "the call was not sent: the connection is closed",
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
