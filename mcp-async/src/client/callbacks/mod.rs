//! Callbacks of the program for requests and notifications of the server.

pub(super) mod callback_context;
pub(super) mod callback_error;
pub(super) mod elicitation;
pub(super) mod question_tasks;
pub(super) mod roots;

use core::future::Future;
use core::time::Duration;
use std::sync::Arc;

use mcp_proto::json::{Raw, Str};
use mcp_proto::rpc::{Method, Notification};
use serde::de::DeserializeOwned;

use self::callback_context::CallbackContext;
use self::callback_error::CallbackError;
use self::elicitation::complete;
use self::question_tasks::QuestionTasks;
use self::roots::Roots;
use crate::client::session::handler::{Answer, IncomingQuestion};
use crate::error::ErrorReply;
use crate::model::{
    CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, LoggingMessageParams,
    check_conversation,
};
use crate::runtime::{BoxFuture, RuntimeHandle};
use crate::trace_context::TraceContext;

#[derive(Default)]
pub(super) struct Callbacks {
    pub(super) elicitation: Option<Answerer<ElicitParams, ElicitResult>>,
    pub(super) sampling: Option<Answerer<CreateMessageParams, CreateMessageResult>>,
    pub(super) roots: Roots,
    /// The time after which it is looked again which of the listed roots are there.
    pub(super) root_check: Option<Duration>,
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
    pub(super) fn answer(&self, question: IncomingQuestion<'_>, runtime: &RuntimeHandle) -> Answer {
        match question.method {
            Method::ElicitationCreate => self.elicit(question),
            Method::SamplingCreateMessage => self.sample(question),
            Method::RootsList => {
                let checks = self.root_check.map(|_| runtime);
                self.roots.answer(checks)
            }
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

fn decode<T: DeserializeOwned>(question: IncomingQuestion<'_>) -> Result<T, ErrorReply> {
    let decoded = question.params.as_raw().decode(&mut []);
    decoded.map_err(|error| ErrorReply::invalid_params(error.to_string()))
}
