//! What servers ask of a host.

use core::cell::RefCell;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::{Arc, Weak};

use mcp_async::client::ClientBuilder;
use mcp_async::model::IncludeContext;
use mcp_async::{Client, ErrorReply, code};

use super::audit::AuditOutcome;
use super::events::HostEvent;
use super::hooks::Answer;
use super::limiter::Limiter;
use super::server::Server;
use super::shared::Shared;

/// The server that asks, and the call in which it asks.
#[derive(Clone, Debug)]
pub struct QuestionContext {
    server: Arc<str>,
    call: Option<Arc<CallInfo>>,
}

/// A call that runs.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallInfo {
    /// The number of the call at its host.
    pub id: u64,
    /// The method of the protocol.
    pub method: &'static str,
    /// The name of the tool or prompt as the host exposes it, or the URI of the resource.
    pub name: String,
}

impl QuestionContext {
    /// Returns the server that asks.
    pub const fn server(&self) -> &Arc<str> {
        &self.server
    }

    /// Returns the call in which the server asks, as far as it is known: always in 2026-07-28; in a legacy session, which
    /// does not say it, if exactly one call of the server runs.
    pub fn call(&self) -> Option<&CallInfo> {
        self.call.as_deref()
    }
}

thread_local! {
    /// The call that is polled on this thread. Clients ask their callbacks inside the poll of a call of 2026-07-28.
    static POLLED: RefCell<Option<Arc<CallInfo>>> = const { RefCell::new(None) };
}

/// A future of a call, under whose poll callbacks find the call.
pub(super) struct Polled<F> {
    pub(super) call: Arc<CallInfo>,
    pub(super) future: F,
}

impl<F: Future + Unpin> Future for Polled<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let outer = POLLED.replace(Some(Arc::clone(&self.call)));
        let _restore = Restore(outer);
        Pin::new(&mut self.future).poll(cx)
    }
}

/// Restores the call around this one, after a panic too.
struct Restore(Option<Arc<CallInfo>>);

impl Drop for Restore {
    fn drop(&mut self) {
        POLLED.set(self.0.take());
    }
}

/// Returns the settings of a client of the server.
pub(super) fn builder(shared: &Arc<Shared>, server: &Arc<Server>) -> ClientBuilder {
    let mut client = Client::builder(&shared.name, &shared.version);
    if let Some(settings) = &shared.hooks.settings {
        client = settings(&server.name, client);
    }
    let asked = Asked {
        shared: Arc::downgrade(shared),
        server: Arc::downgrade(server),
    };
    let log = asked.clone();
    client = client
        .restart(shared.restart.clone())
        .on_log(move |message| {
            if let Some((shared, server)) = log.host() {
                shared
                    .readers
                    .send(&HostEvent::Log(Arc::clone(&server.name), message));
            }
        });
    let policy = &server.policy;
    if let Some(hook) = shared
        .hooks
        .elicitation
        .clone()
        .filter(|_| policy.elicitation)
    {
        let (asked, limiter) = (asked.clone(), Limiter::new(policy.questions));
        client = client.on_elicitation(move |question, _| {
            let hook = Arc::clone(&hook);
            asked.answer("elicitation/create", Some(&limiter), move |cx| {
                hook(question, cx)
            })
        });
    }
    if let (Some(hook), Some(limit)) = (shared.hooks.sampling.clone(), policy.sampling) {
        let (asked, limiter) = (asked.clone(), Limiter::new(limit));
        let context_of_others = policy.context_of_others;
        client = client.on_sampling(move |mut question, _| {
            if !context_of_others && let Some(IncludeContext::AllServers) = question.include_context
            {
                question.include_context = Some(IncludeContext::ThisServer);
            }
            let hook = Arc::clone(&hook);
            asked.answer("sampling/createMessage", Some(&limiter), move |cx| {
                hook(question, cx)
            })
        });
    }
    match shared.hooks.roots.clone() {
        Some(hook) => client.on_roots(move |_| {
            let hook = Arc::clone(&hook);
            asked.answer("roots/list", None, move |cx| hook(cx))
        }),
        None if !policy.roots.is_empty() => client.roots(policy.roots.iter().cloned()),
        None => client,
    }
}

/// A server that asks. Its client, which the host keeps, does not keep the host.
#[derive(Clone)]
struct Asked {
    shared: Weak<Shared>,
    server: Weak<Server>,
}

impl Asked {
    fn host(&self) -> Option<(Arc<Shared>, Arc<Server>)> {
        self.shared.upgrade().zip(self.server.upgrade())
    }

    /// Returns the answer of a hook, unless a limit is reached. It is recorded.
    fn answer<T: Send + 'static>(
        &self,
        method: &'static str,
        limiter: Option<&Arc<Limiter>>,
        hook: impl FnOnce(QuestionContext) -> Answer<T>,
    ) -> Answer<T> {
        let Some((shared, server)) = self.host() else {
            return Box::pin(async { Err(ErrorReply::internal().into()) });
        };
        let call = POLLED
            .with_borrow(Clone::clone)
            .or_else(|| server.only_call());
        let record = shared.record(&server.name, method);
        let permit = limiter.map(|limiter| limiter.begin(shared.runtime.now()));
        if let Some(None) = permit {
            record.end(AuditOutcome::Refused);
            let text = format!("the limit of this host for {method} is reached");
            return Box::pin(async { Err(ErrorReply::new(code::INTERNAL_ERROR, text).into()) });
        }
        let server = Arc::clone(&server.name);
        let answer = hook(QuestionContext { server, call });
        Box::pin(async move {
            let _permit = permit;
            let answer = answer.await;
            record.end(match &answer {
                Ok(_) => AuditOutcome::Result,
                Err(error) => AuditOutcome::Error(error.to_string()),
            });
            answer
        })
    }
}
