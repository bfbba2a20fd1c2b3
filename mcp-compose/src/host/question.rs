//! What servers ask of a host.

use std::sync::{Arc, Weak};

use mcp_async::client::ClientBuilder;
use mcp_async::model::IncludeContext;
use mcp_async::{Client, ErrorReply, code};

use super::audit::HostOutcome;
use super::context::{QuestionContext, polled};
use super::hooks::Answer;
use super::limiter::Limiter;
use super::server::Server;
use super::shared::Shared;

/// Returns the settings of a client of the server.
pub(super) fn builder(shared: &Arc<Shared>, server: &Arc<Server>) -> ClientBuilder {
    let hooks = shared.hooks.clone();
    let mut client = Client::builder(&shared.name, &shared.version);
    if let Some(settings) = hooks.settings {
        client = settings(&server.name, client);
    }
    client = client.restart(shared.restart.clone());
    if let Some(hook) = hooks.log {
        let name = Arc::clone(&server.name);
        client = client.on_log(move |message| hook(&name, message));
    }
    let asked = Asked {
        shared: Arc::downgrade(shared),
        server: Arc::downgrade(server),
    };
    let policy = &server.policy;
    if let Some(hook) = hooks.elicitation.filter(|_| policy.elicitation) {
        let (asked, limiter) = (asked.clone(), Limiter::new(policy.questions));
        client = client.on_elicitation(move |question, _| {
            let hook = Arc::clone(&hook);
            asked.answer("elicitation/create", Some(&limiter), move |cx| {
                hook(question, cx)
            })
        });
    }
    if let (Some(hook), Some(limit)) = (hooks.sampling, policy.sampling) {
        let (asked, limiter) = (asked.clone(), Limiter::new(limit));
        let context_of_others = policy.context_of_others;
        client = client.on_sampling(move |mut question, _| {
            let context = &mut question.include_context;
            if matches!(context, Some(IncludeContext::AllServers)) && !context_of_others {
                *context = Some(IncludeContext::ThisServer);
            }
            let hook = Arc::clone(&hook);
            asked.answer("sampling/createMessage", Some(&limiter), move |cx| {
                hook(question, cx)
            })
        });
    }
    match hooks.roots {
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
    /// Returns the answer of a hook, unless a limit is reached. It is recorded.
    fn answer<T: Send + 'static>(
        &self,
        method: &'static str,
        limiter: Option<&Arc<Limiter>>,
        hook: impl FnOnce(QuestionContext) -> Answer<T>,
    ) -> Answer<T> {
        let Some((shared, server)) = self.shared.upgrade().zip(self.server.upgrade()) else {
            return Box::pin(async { Err(ErrorReply::internal().into()) });
        };
        let record = shared.record(&server.name, method);
        let permit = limiter.map(|limiter| limiter.begin(shared.runtime.now()));
        if let Some(None) = permit {
            record.end(HostOutcome::Refused);
            let text = format!("the limit of this host for {method} is reached");
            return Box::pin(async { Err(ErrorReply::new(code::INTERNAL_ERROR, text).into()) });
        }
        let answer = hook(QuestionContext {
            server: Arc::clone(&server.name),
            call: polled().or_else(|| server.only_call()),
        });
        Box::pin(async move {
            let _permit = permit;
            let answer = answer.await;
            record.end(match &answer {
                Ok(_) => HostOutcome::Result,
                Err(error) => HostOutcome::Error(error.to_string()),
            });
            answer
        })
    }
}
