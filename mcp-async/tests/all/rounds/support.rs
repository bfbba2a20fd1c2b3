//! A server with one tool, a client that answers its questions, and no runtime.

use core::future::Future;
use core::pin::{Pin, pin};
use core::task::{self, Poll};
use std::sync::Arc;

use mcp_async::client::{self, CallError};
use mcp_async::model::{CreateMessageParams, SamplingMessage};
use mcp_async::server::{AskError, BoxService, Call, CallContext, Service};
use mcp_async::{ErrorReply, Job};
use mcp_proto::client::ClientConfig;
use mcp_proto::json::RawBuf;
use mcp_proto::model::{ClientFeatures, ServerFeatures};
use mcp_proto::rpc::Method;
use mcp_proto::server::ServerConfig;
use mcp_proto::{Revision, RevisionSet};
use serde::{Deserialize, Serialize};

use crate::joined::{Joined, Person};
use crate::seen::Seen;
use crate::sim::{join_all, run, settle};
use crate::texts::INTERNAL_ERROR;

/// The future of a handler.
pub(crate) trait Answering:
    Future<Output = Result<String, AskError>> + Send + 'static
{
}

impl<F: Future<Output = Result<String, AskError>> + Send + 'static> Answering for F {}

type Answer = Pin<Box<dyn Answering>>;

/// The server: every call is answered by the one function, which notes what happens.
pub(crate) struct Tool {
    answer: Box<dyn Fn(CallContext, Seen) -> Answer + Send>,
    notes: Seen,
}

impl Tool {
    /// Boxed, so that the connection is compiled once for all tools.
    pub(crate) fn boxed<F: Answering>(
        notes: &Seen,
        answer: impl Fn(CallContext, Seen) -> F + Send + 'static,
    ) -> BoxService {
        Box::new(Self {
            answer: Box::new(move |cx, notes| Box::pin(answer(cx, notes))),
            notes: notes.clone(),
        })
    }
}

#[derive(Debug, Deserialize, Serialize)]
struct Said {
    said: String,
}

impl Service for Tool {
    fn call(&self, call: Call<'_>) -> Job {
        let answer = (self.answer)(call.context().clone(), self.notes.clone());
        call.answer(async move {
            match answer.await {
                Ok(said) => Ok(Said { said }),
                Err(error) => Err(match error.as_reply() {
                    // What went wrong is this test's to see.
                    reply if reply.message == INTERNAL_ERROR => {
                        ErrorReply::new(1, error.to_string())
                    }
                    reply => reply,
                }),
            }
        })
    }
}

/// Turns that a test waits for threads; a moment's work takes a few.
const PATIENCE: u32 = 10_000_000;
const PARAMS: &str = r#"{"name":"tool","arguments":{"a":1}}"#;

/// Both, joined.
pub(crate) struct Rig {
    pub(crate) revision: Revision,
    pub(crate) client: client::Peer,
    pub(crate) person: Arc<Person>,
    /// What the handler noted.
    pub(crate) notes: Seen,
}

impl Rig {
    pub(crate) fn new<F: Answering>(
        revision: Revision,
        tool: impl Fn(CallContext, Seen) -> F + Send + 'static,
    ) -> Self {
        Self::with(revision, EVERYTHING, tool)
    }

    /// With a client that declares no more than this.
    pub(crate) fn with<F: Answering>(
        revision: Revision,
        features: ClientFeatures,
        tool: impl Fn(CallContext, Seen) -> F + Send + 'static,
    ) -> Self {
        let notes = Seen::default();
        let service = Tool::boxed(&notes, tool);
        Self::joined(revision, features, service, notes)
    }

    fn joined(
        revision: Revision,
        features: ClientFeatures,
        service: BoxService,
        notes: Seen,
    ) -> Self {
        let features_served = ServerFeatures::TOOLS
            .with(ServerFeatures::PROMPTS)
            .with(ServerFeatures::COMPLETIONS)
            .with(ServerFeatures::LOGGING);
        let server = ServerConfig {
            capabilities: features_served.capabilities(),
            revisions: RevisionSet::of(&Revision::ALL),
            ..ServerConfig::new("asker", "1")
        };
        let client = ClientConfig {
            revisions: RevisionSet::of(&[revision]),
            capabilities: features.capabilities(),
            ..ClientConfig::new("person", "1")
        };
        let sizes = (1 << 16, usize::MAX);
        let Joined { client, person, .. } = Joined::new(client, server, service, sizes);
        Self {
            revision,
            client,
            person,
            notes,
        }
    }

    /// What the tool says in the end.
    pub(crate) fn call(&mut self) -> Result<String, CallError> {
        self.ask(Method::ToolsCall)
    }

    pub(crate) fn ask(&mut self, method: Method<'_>) -> Result<String, CallError> {
        let params = RawBuf::parse(PARAMS).unwrap();
        let call = self.client.call::<Said>(method, Some(&params));
        let heard = self.person.heard.clone();
        let call =
            call.on_progress(|progress| heard.note(format!("progress {}", progress.progress)));
        run(call).map(|said| said.said)
    }

    /// What the tool says in the end, with help from real threads.
    pub(crate) fn call_and_wait(&mut self) -> Result<String, CallError> {
        let params = RawBuf::parse(PARAMS).unwrap();
        let mut call = pin!(self.client.call::<Said>(Method::ToolsCall, Some(&params)));
        let cx = &mut task::Context::from_waker(task::Waker::noop());
        for _ in 0..PATIENCE {
            if let Poll::Ready(said) = call.as_mut().poll(cx) {
                return said.map(|said| said.said);
            }
            settle();
            std::thread::yield_now();
        }
        panic!("the threads are stuck");
    }

    /// Calls, lets everything happen, and gives the call up.
    pub(crate) fn call_and_cancel(&mut self) {
        let params = RawBuf::parse(PARAMS).unwrap();
        let mut call = Box::pin(self.client.call::<Said>(Method::ToolsCall, Some(&params)));
        let cx = &mut task::Context::from_waker(task::Waker::noop());
        for _ in 0..8 {
            assert!(call.as_mut().poll(cx).is_pending());
            settle();
        }
        drop(call);
        settle();
    }

    /// How often a handler runs that has to ask so many times in sequence.
    pub(crate) fn runs(&self, rounds: usize) -> usize {
        if self.revision.is_modern() {
            rounds + 1
        } else {
            1
        }
    }
}

/// Every revision in turn.
pub(crate) fn everywhere(test: impl Fn(Revision)) {
    for revision in Revision::ALL {
        println!("{revision}");
        test(revision);
    }
}

/// Asks the client's model: the one question that every revision has, besides roots.
pub(crate) async fn say(cx: &CallContext, key: &str, text: &str) -> Result<String, AskError> {
    let asked = SamplingMessage::user(text);
    let answer = cx
        .sample(key, CreateMessageParams::new(vec![asked], 10))
        .await?;
    Ok(answer.content.text())
}

/// Asks two questions at the same time, each a key and a text.
pub(crate) async fn say_both(
    cx: &CallContext,
    asked: [(&str, &str); 2],
) -> [Result<String, AskError>; 2] {
    let both = asked.map(|(key, text)| Box::pin(say(cx, key, text)));
    let answers = join_all(both.into()).await;
    answers.try_into().expect("two answers")
}

pub(crate) const EVERYTHING: ClientFeatures = ClientFeatures::ROOTS
    .with(ClientFeatures::SAMPLING)
    .with(ClientFeatures::ELICITATION_FORM)
    .with(ClientFeatures::ELICITATION_URL);
