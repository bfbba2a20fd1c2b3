//! Runs one exchange from its request to its end, resumptions included.

use core::future::{Future, poll_fn};
use core::pin::pin;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::sync::Arc;

use http::header::{CONTENT_TYPE, DATE, RETRY_AFTER};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use mcp_proto::Instant;
use mcp_proto::client::Failure;
use mcp_proto::client::http::{Body, Exchange, ExchangeOutcome, HttpMethod, ReplyHead};
use mcp_proto::rpc::Reason;

use super::carrier::{NoReply, REFUSAL, Reply, Whole, whole};
use super::fields;
use super::link::{Link, Opens, Received, Start};
use super::send::{PATIENCE, ask, deliver, replaced};
use super::stream;
use crate::client::{UnsentMessage, no_message};
use crate::runtime::{Sleep, within};

/// Runs an exchange, and tells the machine what becomes of it;
/// `responded` becomes true with the head of a reply that refuses nothing.
pub(super) async fn run_exchange(link: Arc<Link>, start: Start, responded: Arc<AtomicBool>) {
    let Start {
        mut exchange,
        message,
        opens,
        permit: _permit,
        ..
    } = start;
    let mut gate = Gate { link: &link, opens };
    loop {
        // No call waits for notifications and answers, so no call's timeout would end this.
        let told = exchange.id().is_none() && exchange.method() != HttpMethod::Get;
        let (id, credentials) = (exchange.id(), link.credentials_version());
        let attempt = attempt(&link, &mut exchange, &message, &responded);
        let patience = PATIENCE
            + link
                .authorizer
                .as_ref()
                .map_or(Duration::ZERO, |it| it.timeout());
        let attempt = within(link.runtime(), told.then_some(patience), attempt);
        let attempted = match gate.opens {
            Opens::Calls => opening(&link, &responded, attempt).await,
            Opens::Nothing | Opens::Stream => attempt.await,
        };
        if gate.opens == Opens::Stream {
            link.opened();
        }
        gate.opens = Opens::Nothing;
        let (after, received) = attempted.unwrap_or((ExchangeOutcome::Done, None));
        match after {
            ExchangeOutcome::Resume(at) => {
                Sleep::until(link.runtime(), at).await;
                // SC-30: the answer may have come in the server's own stream meanwhile.
                if exchange.id().is_none() || exchange.ids().any(|id| link.awaits(id)) {
                    continue;
                }
            }
            ExchangeOutcome::Authorize => {
                // Credentials that this attempt obtained are not newer than the refusal.
                let credentials = match link.authorizer {
                    Some(_) => link.credentials_version(),
                    None => credentials,
                };
                poll_fn(|cx| link.poll_credentials(credentials, cx)).await;
                continue;
            }
            ExchangeOutcome::Deliver => {
                deliver(&link, received).await;
                fail(&link, &exchange, Failure::NoAnswer).await;
            }
            ExchangeOutcome::Mismatched => {
                id.into_iter().for_each(|id| link.mismatched(id));
                deliver(&link, received).await;
            }
            ExchangeOutcome::Lost => {
                let begun = exchange.ids().filter(|_| exchange.is_begun());
                link.renew(begun.collect());
            }
            ExchangeOutcome::HangUp => link.hang_up(),
            ExchangeOutcome::Refuse(status) => refuse(&link, &exchange, status),
            ExchangeOutcome::Fail(failure) => fail(&link, &exchange, failure).await,
            ExchangeOutcome::ProbeHttpSse(status) => {
                let mut stream = link.origin(|origin| origin.probe_http_sse());
                if !probe_http_sse(&link, &mut stream, &message).await {
                    match received {
                        None => refuse(&link, &exchange, status),
                        received => deliver(&link, received).await,
                    }
                }
            }
            ExchangeOutcome::Done => {}
        }
        return;
    }
}

/// Tells the machine that the requests of the exchange were refused.
fn refuse(link: &Link, exchange: &Exchange, status: u16) {
    exchange.ids().for_each(|id| link.refuse(id, status));
}

/// Tells the machine that the requests of the exchange which have no answer failed.
async fn fail(link: &Link, exchange: &Exchange, failure: Failure) {
    if exchange.id().is_some() {
        // Messages that arrived before the failure count before it.
        poll_fn(|cx| link.poll_read(cx)).await;
        exchange.ids().for_each(|id| link.fail(id, failure));
    }
}

/// Lets everything leave that waits for an exchange, should that panic or be dropped.
struct Gate<'a> {
    link: &'a Link,
    opens: Opens,
}

impl Drop for Gate<'_> {
    fn drop(&mut self) {
        if self.opens != Opens::Nothing {
            self.link.release();
        }
    }
}

/// Polls the first request of the server's own stream, and lets calls leave once the server has
/// answered it or has had it for as long as a request needs to arrive: some servers send no head
/// before the first event.
async fn opening<F: Future>(link: &Link, responded: &AtomicBool, attempt: F) -> F::Output {
    let mut attempt = pin!(attempt);
    let mut start = Sleep::after(link.runtime(), HEAD_START);
    let mut waiting = true;
    poll_fn(|cx| {
        let polled = attempt.as_mut().poll(cx);
        if waiting
            && (polled.is_ready()
                || responded.load(Ordering::Relaxed)
                || start.poll_done(cx).is_ready())
        {
            waiting = false;
            link.release();
        }
        polled
    })
    .await
}

/// Asks once, and reads what comes. Returns the messages that the outcome is about, too.
async fn attempt(
    link: &Link,
    exchange: &mut Exchange,
    message: &UnsentMessage,
    responded: &AtomicBool,
) -> (ExchangeOutcome, Option<Received>) {
    let response = match ask(link, exchange, message).await {
        Ok(response) => response,
        Err(NoReply::Unsent(unsent)) => {
            link.unsent(unsent.cause);
            return (unreachable(link, exchange, unsent.begun), None);
        }
        Err(NoReply::Denied(error)) => {
            link.denied(exchange, error);
            let after = match (exchange.id(), exchange.method()) {
                (Some(_), _) => ExchangeOutcome::Fail(Failure::Status(401)),
                (None, HttpMethod::Get) => ExchangeOutcome::Authorize,
                (None, _) => ExchangeOutcome::Done,
            };
            return (after, None);
        }
    };
    let status = response.status().as_u16();
    if response.status().is_success() {
        responded.store(true, Ordering::Relaxed);
        link.client_state.hold_until(Instant::ZERO);
    }
    let mut instead = Vec::new();
    let after = match judge(link, exchange, &response) {
        Body::Nothing => {
            // Such as a page for people, which only an observer reads.
            if response.status() == StatusCode::OK && response.body().is_observed() {
                let page = whole(response.into_body(), REFUSAL);
                within(link.runtime(), HEAD_START, page).await;
            }
            link.origin(|origin| exchange.nothing(origin))
        }
        Body::Json => match whole(response.into_body(), link.limits.message).await {
            Whole::All(body) => {
                let body = link.parse(body);
                let after = link.origin(|origin| exchange.answer(origin, &body, &mut instead));
                return (after, Some(replaced(link, body, instead)));
            }
            Whole::TooLong(_) => ExchangeOutcome::Fail(Failure::Invalid(Reason::TooLong)),
            Whole::Broken => unreachable(link, exchange, true),
        },
        Body::Events => stream::read(link, exchange, response.into_body(), None).await,
        Body::Refusal => {
            let body = match whole(response.into_body(), REFUSAL).await {
                Whole::All(body) | Whole::TooLong(body) => body,
                Whole::Broken => Vec::new(),
            };
            let (now, jitter) = (link.now(), link.roll());
            if let Some(delay) = exchange.retry_after() {
                link.client_state.hold_until(now + delay);
            }
            link.origin(|origin| exchange.refused(origin, now, status, &body, &mut instead, jitter))
        }
    };
    (after, (!instead.is_empty()).then(|| link.parse(instead)))
}

/// Looks for the stream of a server of 2024-11-05, and reads it to its end; says whether there is
/// one.
async fn probe_http_sse(link: &Link, exchange: &mut Exchange, handshake: &UnsentMessage) -> bool {
    let Ok(response) = ask(link, exchange, &no_message()).await else {
        return false;
    };
    if judge(link, exchange, &response) != Body::Events {
        return false;
    }
    let body = response.into_body();
    match stream::read(link, exchange, body, Some(handshake)).await {
        ExchangeOutcome::HangUp => {
            link.hang_up();
            true
        }
        _ => false,
    }
}

fn judge(link: &Link, exchange: &mut Exchange, response: &Response<Reply>) -> Body {
    let field = |name: &HeaderName| {
        let value = response.headers().get(name);
        value.map(HeaderValue::as_bytes)
    };
    let head = ReplyHead {
        content_type: field(&CONTENT_TYPE),
        session: field(&fields::SESSION),
        retry_after: field(&RETRY_AFTER),
        date: field(&DATE),
        ..ReplyHead::new(response.status().as_u16())
    };
    link.origin(|origin| exchange.head(origin, &head))
}

fn unreachable(link: &Link, exchange: &mut Exchange, begun: bool) -> ExchangeOutcome {
    let (now, jitter) = (link.now(), link.roll());
    link.origin(|origin| exchange.unreachable(origin, now, begun, jitter))
}

/// The time after which a request is assumed to have arrived.
pub(super) const HEAD_START: Duration = Duration::from_secs(1);
