//! Errors of the library as failures of this program.

use super::exit::{Cause, Exit, Failure, Login};
use super::plain::line;
use mcp_tokio::auth::AuthorizationError;
use mcp_tokio::auth::mcp_auth::Problem;
use mcp_tokio::client::Failure as NoAnswer;
use mcp_tokio::client::{CallError, ConnectError};
use mcp_tokio::skills::LoadError;
use mcp_tokio::{ErrorChain, ExitedEarly};

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        let exit = match &error {
            CallError::Server(_) => Exit::Server,
            CallError::Timeout => Exit::Timeout,
            _ => Exit::Other,
        };
        let failure = Self::new(exit, ErrorChain(&error));
        match error {
            CallError::Server(reply) => Self {
                reply: Some(reply),
                ..failure
            },
            CallError::Failed(error) => failure.caused_by(answer(error)),
            CallError::Authorization(error) => failure.denied(&error),
            CallError::ExitedEarly(died) => Self::new(exit, ended(died)),
            _ => failure,
        }
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Call(error) => error.into(),
            other => Self::new(Exit::Other, line(&ErrorChain(&other).to_string())),
        }
    }
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Self {
        let exit = match &error {
            ConnectError::Timeout => Exit::Timeout,
            ConnectError::Header(_) | ConnectError::Url(_) => return Self::usage(error),
            ConnectError::Start(_) | ConnectError::Output(_) => {
                return Self::new(Exit::Connect, ErrorChain(&error));
            }
            _ => Exit::Connect,
        };
        let failure = Self::new(exit, format_args!("no connection: {}", ErrorChain(&error)));
        match error {
            ConnectError::Refused(reply) => Self {
                reply: Some(reply),
                ..failure
            },
            ConnectError::Answer => failure.caused_by(Cause::Answer),
            ConnectError::Failed(error) => failure.caused_by(answer(error)),
            ConnectError::Authorization(error) => failure.denied(&error),
            ConnectError::ExitedEarly(died) => Self::new(exit, ended(died)),
            _ => failure,
        }
    }
}

impl Failure {
    fn caused_by(self, cause: Cause) -> Self {
        Self { cause, ..self }
    }

    fn denied(self, error: &AuthorizationError) -> Self {
        match error {
            AuthorizationError::Flow(flow) => self.caused_by(match &flow.problem {
                Problem::LoginRequired {
                    issuer,
                    scopes: names,
                } => {
                    Cause::Login(Box::new(Login {
                        wanted: line(&format!("a login at {issuer}{}", scopes(names))).into_owned(),
                        // Without metadata the server itself counts as the issuer (2025-03-26).
                        is_published: flow.url != *issuer,
                    }))
                }
                _ => Cause::Authorization,
            }),
            AuthorizationError::Store(error)
                if error.kind() == std::io::ErrorKind::ResourceBusy =>
            {
                let why =
                    "another process is logging in at this server; try again when it has ended";
                Self::new(self.exit, why)
            }
            _ => self.caused_by(Cause::Authorization),
        }
    }
}

/// Scopes, as the end of a sentence names them.
pub(crate) fn scopes(names: &str) -> String {
    match names {
        "" => String::new(),
        names => format!(" (scopes: {names})"),
    }
}

const fn answer(error: NoAnswer) -> Cause {
    match error {
        NoAnswer::Status(_) | NoAnswer::NoAnswer | NoAnswer::Invalid(_) => Cause::Answer,
        _ => Cause::Other,
    }
}

/// Describes the end of a server, with its last lines as they were written.
fn ended(mut died: ExitedEarly) -> String {
    let lines = core::mem::take(&mut died.lines);
    let last = lines.get(lines.len().saturating_sub(LAST)..);
    let mut text = died.to_string();
    if let Some(last) = last.filter(|last| !last.is_empty()) {
        text.push_str("; its standard error ends with:");
        for line in last {
            text.push_str("\n  ");
            text.push_str(line);
        }
    }
    text
}

/// The number of lines that are shown of a standard error.
const LAST: usize = 5;
