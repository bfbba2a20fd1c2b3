//! Questions of a round, and their answers.

use core::fmt;

use mcp_proto::json::RawBuf;

/// The questions that a server of 2026-07-28 has before it answers a request.
#[derive(Clone, Default)]
pub struct InputQuestions {
    /// The questions under their keys, an object: `inputRequests`.
    pub requests: RawBuf,
    /// The `requestState`, a string, which goes back to the server as it is, with the same request and no other (MR-11, MR-13).
    pub state: Option<RawBuf>,
}

/// The answers to the questions of the round before.
#[derive(Clone, Default)]
pub struct InputAnswers {
    /// The answers under the keys of the questions, an object: `inputResponses`. `None` if there were no questions.
    pub responses: Option<RawBuf>,
    /// The `requestState` that came with the questions.
    pub state: Option<RawBuf>,
}

impl InputAnswers {
    /// Returns true if there is anything to send.
    pub(in crate::client) const fn continues(&self) -> bool {
        self.responses.is_some() || self.state.is_some()
    }
}

/// Without questions and state, which are not for logs.
impl fmt::Debug for InputQuestions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InputQuestions").finish_non_exhaustive()
    }
}

/// Without answers and state, which are not for logs.
impl fmt::Debug for InputAnswers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InputAnswers").finish_non_exhaustive()
    }
}
