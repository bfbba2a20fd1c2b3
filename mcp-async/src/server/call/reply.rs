//! The replies of handlers.

use mcp_proto::rpc::Method;
use mcp_proto::{Outcome, Payload, Question};

use crate::error::ErrorReply;

/// A type that a handler can return: the core can write it as a response.
///
/// `Result<T, ErrorReply>` is one for every payload `T`; [`Settled`] adds the rounds of
/// 2026-07-28.
///
/// A reply is written under the connection's lock, so that its bytes go out in one piece: a
/// [`Payload`] (or the `Serialize` behind one) must not call into the
/// [`CallContext`](crate::server::CallContext) or a handle of the same connection, which would wait for
/// itself.
pub trait Reply: Send + 'static {
    /// Hands the outcome to `send`, exactly once. It borrows from the reply, so that an answer
    /// need not be copied.
    fn with_outcome(&self, send: &mut dyn FnMut(Outcome<'_>));

    /// Returns whether the result is that of a tool that failed (`isError`), which layers and spans
    /// report.
    fn is_tool_error(&self) -> bool {
        false
    }
}

impl<T: Payload + Send + 'static> Reply for Result<T, ErrorReply> {
    fn with_outcome(&self, send: &mut dyn FnMut(Outcome<'_>)) {
        match self {
            Ok(value) => send(Outcome::Result(value)),
            Err(error) => send(Outcome::Error(error.as_object())),
        }
    }
}

/// The three ways in which a request can end.
///
/// ```
/// use mcp_async::ErrorReply;
/// use mcp_async::server::{InputRequired, Settled, service_fn};
///
/// let wary = service_fn(|call| match call.request.input_responses {
///     // The second round: the client has asked its user.
///     Some(_) => call.ready(Settled::Result(())),
///     None => call.ready(Settled::<()>::Input(InputRequired {
///         state: Some("asked".into()),
///         ..InputRequired::default()
///     })),
/// });
/// # let _ = wary;
/// ```
#[derive(Debug)]
pub enum Settled<T> {
    /// With a result.
    Result(T),
    /// With an error.
    Error(ErrorReply),
    /// With questions: the client asks again when it has the answers. Only in
    /// 2026-07-28 and for the methods that allow it.
    Input(InputRequired),
}

/// The questions that the client has to answer before its request can be answered, and the request
/// state.
#[derive(Default)]
pub struct InputRequired {
    /// Questions under keys of the handler's choice, each key once.
    pub questions: Vec<(String, Method<'static>, Box<dyn Payload + Send>)>,
    /// The request state, which the client has to send back. It returns from a stranger: protect it.
    pub state: Option<String>,
}

impl<T: Payload + Send + 'static> Reply for Settled<T> {
    fn with_outcome(&self, send: &mut dyn FnMut(Outcome<'_>)) {
        match self {
            Self::Result(value) => send(Outcome::Result(value)),
            Self::Error(error) => send(Outcome::Error(error.as_object())),
            Self::Input(input) => {
                let requests: Vec<_> = input
                    .questions
                    .iter()
                    .map(|(key, method, params)| {
                        (
                            key.as_str(),
                            Question {
                                method: *method,
                                params: &**params,
                            },
                        )
                    })
                    .collect();
                let state = input.state.as_deref();
                send(Outcome::Input(mcp_proto::InputRequired {
                    requests: &requests,
                    state,
                }));
            }
        }
    }
}

impl core::fmt::Debug for InputRequired {
    /// Without the parameters and the state, which are not for logs.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_set()
            .entries(self.questions.iter().map(|(key, ..)| key))
            .finish()
    }
}
