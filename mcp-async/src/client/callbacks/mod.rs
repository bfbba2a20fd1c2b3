//! Callbacks of the program for requests and notifications of the server.

pub(super) mod callback_context;
pub(super) mod callback_error;
pub(super) mod elicitation;
pub(super) mod question_tasks;

use core::future::Future;
use std::sync::Arc;

use mcp_proto::json::{Raw, Str};
use mcp_proto::rpc::{Method, Notification};
use serde::de::DeserializeOwned;

use self::callback_context::CallbackContext;
use self::callback_error::CallbackError;
use self::elicitation::complete;
use self::question_tasks::QuestionTasks;
use crate::client::session::handler::{Answer, IncomingQuestion};
use crate::error::ErrorReply;
use crate::model::{
    CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, ListRootsResult,
    LoggingMessageParams, Root, check_conversation,
};
use crate::runtime::BoxFuture;
use crate::sync::Lock;
use crate::trace_context::TraceContext;

#[derive(Default)]
pub(super) struct Callbacks {
    pub(super) elicitation: Option<Answerer<ElicitParams, ElicitResult>>,
    pub(super) sampling: Option<Answerer<CreateMessageParams, CreateMessageResult>>,
    pub(super) roots: Roots,
    /// For questions of legacy servers that become tasks, and requests about these.
    pub(super) tasks: Option<Box<dyn QuestionTasks>>,
    /// For requests of extensions.
    pub(super) requests: Vec<(String, RequestAnswerer)>,
    pub(super) log: Option<Box<dyn Fn(LoggingMessageParams) + Send + Sync>>,
    pub(super) notification: Option<Listener>,
    pub(super) trace: Option<Box<dyn Fn() -> Option<TraceContext> + Send + Sync>>,
}

pub(super) type Listener = Box<dyn Fn(Notification<'_>) + Send + Sync>;

/// A callback, boxed with the futures that it makes.
pub(super) type Answerer<P, T> =
    Box<dyn Fn(P) -> BoxFuture<'static, Result<T, ErrorReply>> + Send + Sync>;

/// A callback for requests of an extension: it receives the parameters.
pub(super) type RequestAnswerer = Box<dyn Fn(Raw<'_>) -> Answer + Send + Sync>;

/// The directories that a server is shown.
#[derive(Default)]
pub(super) enum Roots {
    #[default]
    None,
    Listed(Lock<Vec<Root>>),
    Asked(Answerer<(), Vec<Root>>),
}

/// Binds a callback to the state of the client.
pub(super) fn boxed<S, P, T, F, Fut>(state: &Arc<S>, callback: F) -> Answerer<P, T>
where
    S: Send + Sync + 'static,
    F: Fn(P, CallbackContext<S>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<T, CallbackError>> + Send + 'static,
{
    let cx = CallbackContext::new(state);
    Box::new(move |params| {
        let answer = callback(params, cx.clone());
        Box::pin(async move { answer.await.map_err(CallbackError::into_reply) })
    })
}

impl Callbacks {
    /// The core has checked that the question is one that this client declared; EL-03 and
    /// SP-02 are its own, too.
    pub(super) fn answer(&self, question: IncomingQuestion<'_>) -> Answer {
        match question.method {
            Method::ElicitationCreate => self.elicit(question),
            Method::SamplingCreateMessage => self.sample(question),
            Method::RootsList => self.roots.answer(),
            Method::Other(name) if let Some(callback) = self.request(name) => {
                callback(question.params.as_raw())
            }
            _ => Answer::refuse(ErrorReply::method_not_found()),
        }
    }

    fn request(&self, name: Str<'_>) -> Option<&RequestAnswerer> {
        let mut requests = self.requests.iter();
        let (_, callback) = requests.find(|(method, _)| name == **method)?;
        Some(callback)
    }

    fn elicit(&self, question: IncomingQuestion<'_>) -> Answer {
        let Some(callback) = &self.elicitation else {
            return Answer::refuse(ErrorReply::method_not_found());
        };
        match decode::<ElicitParams>(question) {
            Ok(params) => {
                let schema = match &params {
                    ElicitParams::Form(form) => Some(form.requested_schema.clone()),
                    _ => None,
                };
                let answer = callback(params);
                Answer::new(async move { complete(answer.await?, schema.as_ref()) })
            }
            Err(error) => Answer::refuse(error),
        }
    }

    fn sample(&self, question: IncomingQuestion<'_>) -> Answer {
        let Some(callback) = &self.sampling else {
            return Answer::refuse(ErrorReply::method_not_found());
        };
        let params = decode::<CreateMessageParams>(question).and_then(|params| {
            check_conversation(&params.messages).map_err(ErrorReply::invalid_params)?;
            Ok(params)
        });
        match params {
            Ok(params) => Answer::new(callback(params)),
            Err(error) => Answer::refuse(error),
        }
    }
}

impl Roots {
    /// Replaces a list; without one there is nothing to replace.
    pub(super) fn set(&self, roots: Vec<Root>) {
        if let Self::Listed(listed) = self {
            let _old = core::mem::replace(&mut *listed.lock(), roots);
        }
    }

    fn answer(&self) -> Answer {
        match self {
            Self::None => Answer::refuse(ErrorReply::method_not_found()),
            Self::Listed(roots) => {
                let roots = roots.lock().clone();
                Answer::ready(Ok(listed(roots)))
            }
            Self::Asked(ask) => {
                let roots = ask(());
                Answer::new(async move {
                    let roots = roots.await?;
                    // RT-03: a root that is not a directory of this machine is never shown.
                    match roots.iter().all(|root| is_file(&root.uri)) {
                        true => Ok(listed(roots)),
                        false => Err(ErrorReply::internal()),
                    }
                })
            }
        }
    }
}

/// Returns true if the URI is valid for a root (RT-03): `file://` and an absolute path without
/// `..`.
pub(super) fn is_file(uri: &str) -> bool {
    let scheme = uri.get(..7).unwrap_or_default();
    let rest = uri.get(7..).unwrap_or_default();
    // A host is another machine, but for the name of this one.
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    scheme.eq_ignore_ascii_case("file://") && path.starts_with('/') && !climbs(path)
}

/// Returns true if a segment of the path is `..`, with or without escapes.
fn climbs(path: &str) -> bool {
    path.split(['/', '\\']).any(|segment| {
        let plain = segment.replace("%2e", ".").replace("%2E", ".");
        plain
            .split("%2f")
            .flat_map(|part| part.split("%2F"))
            .any(|part| part == "..")
    })
}

fn listed(roots: Vec<Root>) -> ListRootsResult {
    ListRootsResult {
        roots,
        ..ListRootsResult::default()
    }
}

fn decode<T: DeserializeOwned>(question: IncomingQuestion<'_>) -> Result<T, ErrorReply> {
    let decoded = question.params.as_raw().decode(&mut []);
    decoded.map_err(|error| ErrorReply::invalid_params(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_directories_of_this_machine() {
        let check = |uri, expected| assert_eq!(is_file(uri), expected, "{uri}");
        check("file:///home/ada", true);
        check("FILE:///home/ada", true);
        check("file://localhost/home", true);
        check("file:///C:/Users", true);
        check("file:///a/..b/c..", true);
        check("file:///a/../b", false);
        check("file:///a/%2e%2E/b", false);
        check("file:///a%2f..%2Fb", false);
        check("file:///a\\..\\b", false);
        check("file://elsewhere/home", false);
        check("file://", false);
        check("file:/home", false);
        check("https://example.com/", false);
        check("ä", false);
    }
}
