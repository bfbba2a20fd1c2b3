//! The exit codes of the program, and its failures.

use core::fmt;

use super::json::{Members, quoted};
use super::secrets::Secrets;
use mcp_tokio::ErrorReply;
use mcp_tokio::json::RawBuf;

/// The number that a script sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// It worked.
    Success = 0,
    /// The tool ran, and said that it failed.
    Tool = 1,
    /// The command line, a file of it or an argument is wrong.
    Usage = 2,
    /// There is no connection to the server.
    Connect = 3,
    /// The server answered with an error.
    Server = 4,
    /// The server did not answer in time.
    Timeout = 5,
    /// Another failure.
    Other = 6,
    /// Ctrl-C.
    Interrupted = 130,
    /// The reader of the output has gone.
    Unread = 141,
}

/// The reason why there is no result.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// For a person to read; text of a peer in it is not yet fit for a terminal.
    pub(crate) text: String,
    /// The error of the server, if the server answered with one.
    pub(crate) reply: Option<ErrorReply>,
    pub(crate) cause: Cause,
}

/// The causes of a failure that the responses of a server at a URL can explain.
#[derive(Debug, Default)]
pub(crate) enum Cause {
    /// A response that is no answer.
    Answer,
    /// A user must log in.
    Login(Box<Login>),
    /// There is no token, for another reason.
    Authorization,
    /// Files cannot be saved; the result is written.
    Save,
    /// Another cause, which no response explains.
    #[default]
    Other,
}

/// The login that a server wants.
#[derive(Debug)]
pub(crate) struct Login {
    /// The place and the scopes, for the end of a sentence.
    pub(crate) wanted: String,
    /// True if the server publishes the place.
    pub(crate) is_published: bool,
}

impl Exit {
    /// The word for it in JSON.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Tool => "tool",
            Self::Usage => "usage",
            Self::Connect => "connect",
            Self::Server => "server",
            Self::Timeout => "timeout",
            Self::Other => "other",
            Self::Interrupted => "interrupted",
            Self::Unread => "unread",
        }
    }

    /// The table at the end of `--help`.
    pub(crate) const HELP: &'static str = "\
Exit codes:
    0  it worked
    1  the tool ran and said that it failed
    2  the command line or a file is wrong, or the server lists no such tool, prompt or argument
    3  no connection: the server cannot be started, died, or speaks no revision of ours
    4  the server answered with an error
    5  the server did not answer in time, or --max-time is over
    6  anything else: not offered by the server, connection lost, unusable answer
  130  interrupted by Ctrl-C (the server is told; a second one ends at once)
  141  the reader of the output has gone

With --json an error is written to standard output, too: {\"error\":{\"kind\":..,\"message\":..}}.";
}

impl Failure {
    pub(crate) fn new(exit: Exit, text: impl fmt::Display) -> Self {
        Self {
            exit,
            text: text.to_string(),
            reply: None,
            cause: Cause::Other,
        }
    }

    /// Returns a failure of the command line, or of a file or name in it.
    pub(crate) fn usage(text: impl fmt::Display) -> Self {
        Self::new(Exit::Usage, text)
    }

    /// Ctrl-C.
    pub(crate) fn interrupted() -> Self {
        Self::new(Exit::Interrupted, "interrupted")
    }

    /// The time of `--max-time` is over.
    pub(crate) fn late() -> Self {
        Self::new(Exit::Timeout, "the time of --max-time is over")
    }

    /// Removes the secrets from what a server says in it. Data that is no JSON without them goes.
    pub(crate) fn mask(&mut self, secrets: &Secrets) {
        self.text = secrets.mask(&self.text).into_owned();
        if let Some(reply) = &mut self.reply {
            reply.message = secrets.mask(&reply.message).into_owned().into();
            let data = reply.data.take();
            let data = data.map(|data| RawBuf::parse(&*secrets.mask(data.as_raw().as_str())));
            reply.data = data.and_then(Result::ok);
        }
    }

    /// Returns the failure as JSON for a script: `{"error":{"kind":..,"message":..,"code":..,"data":..}}`.
    pub(crate) fn document(&self) -> RawBuf {
        let mut error = Members::default();
        error.put("kind", quoted(self.exit.word()));
        match &self.reply {
            None => error.put("message", quoted(&self.text)),
            Some(reply) => {
                error.put("message", quoted(&reply.message));
                error.put("code", RawBuf::encode(&reply.code).unwrap_or_default());
                if let Some(data) = &reply.data {
                    error.put("data", data.clone());
                }
            }
        }
        let mut document = Members::default();
        document.put("error", error.object().unwrap_or_default());
        document.object().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents() {
        let check = |failure: Failure, expected: &str| {
            assert_eq!(failure.document().as_raw().as_str(), expected);
        };
        check(
            Failure::usage("no such \"file\""),
            r#"{"error":{"kind":"usage","message":"no such \"file\""}}"#,
        );
        let mut failure = Failure::new(
            Exit::Server,
            "the server answered with an error: no (code -32602)",
        );
        failure.reply = Some(ErrorReply {
            data: RawBuf::parse("[1]").ok(),
            ..ErrorReply::invalid_params("no")
        });
        check(
            failure,
            r#"{"error":{"kind":"server","message":"no","code":-32602,"data":[1]}}"#,
        );
    }
}
