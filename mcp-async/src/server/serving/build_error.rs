//! Errors of building a server.

use core::error::Error;
use core::fmt;
use std::io;

use crate::server::items::register_error::RegisterError;

/// The error of [`ServerBuilder::build`](crate::server::ServerBuilder::build): every mistake in the
/// settings and items of the builder, in the order of the calls.
///
/// Its text lists them with their reasons, and so does its `Debug` text, which `main` and `unwrap` print.
///
/// ```
/// use mcp_async::Server;
/// use mcp_async::server::{Resource, Tool};
///
/// let tool = || Tool::new("greet").handler(|(): (), _| async { Ok("hello") });
/// let builder = Server::builder("demo", "1.0");
/// let error = builder
///     .with(tool())
///     .with(tool())
///     .with(Resource::new("demo://greeting", "greeting"))
///     .build()
///     .unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "the server has 2 mistakes: tool `greet`: it is registered twice; resource `demo://greeting`: no handler"
/// );
/// assert_eq!(error.mistakes()[1].to_string(), "resource `demo://greeting`: no handler");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct BuildError(Vec<RegisterError>);

impl BuildError {
    /// Fails if there are mistakes.
    pub(crate) fn check(mistakes: Vec<RegisterError>) -> Result<(), Self> {
        if mistakes.is_empty() {
            return Ok(());
        }
        Err(Self(mistakes))
    }

    /// Returns all mistakes, at least one.
    pub fn mistakes(&self) -> &[RegisterError] {
        &self.0
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            [_] => f.write_str("the server has a mistake: ")?,
            all => write!(f, "the server has {} mistakes: ", all.len())?,
        }
        for (at, mistake) in self.0.iter().enumerate() {
            let separator = if at > 0 { "; " } else { "" };
            write!(f, "{separator}{mistake}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BuildError: {self}")
    }
}

impl Error for BuildError {}

/// The mistakes are in what was given to the builder.
impl From<BuildError> for io::Error {
    fn from(error: BuildError) -> Self {
        Self::new(io::ErrorKind::InvalidInput, error)
    }
}
