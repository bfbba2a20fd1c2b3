//! Sends a request with the client's credentials, and again where a refusal asks for others.

use core::future::{Future, poll_fn};
use core::pin::pin;
use core::task::Poll;
use core::time::Duration;
use std::sync::Arc;

use http::Response;
use http::header::WWW_AUTHENTICATE;
use mcp_auth::{Challenge, RefusedResponse, Remedy, Scheme};
use mcp_proto::client::http::{Exchange, HttpMethod};

use super::authorization::{Authorizer, Goal, Obtained, Reason, dpop_nonce};
use super::carrier::{NoReply, REFUSAL, Reply, Unsent, whole};
use super::link::Link;
use crate::client::UnsentMessage;
use crate::error::AuthorizationError;
use crate::runtime::within;

/// Sends the request of an exchange. A refusal that nothing helps against is an error with status
/// 401, and the response itself with status 403, unless scopes are lacking.
pub(super) async fn send(
    link: &Link,
    authorizer: &Authorizer,
    exchange: &Exchange,
    message: &UnsentMessage,
) -> Result<Response<Reply>, NoReply> {
    let mut refusals = authorizer.refusals();
    // The reason why the token was obtained, if it was for this request.
    let mut reason = None;
    loop {
        let viewed = authorizer.view(reason.is_some());
        let view = while_suspended(link, exchange, viewed).await?;
        let mut request = link.request(exchange, message)?;
        let (method, url) = (request.method().to_string(), request.uri().to_string());
        if let Some(held) = &view.held {
            let presented =
                authorizer.present(&mut refusals, held, (&method, &url), request.headers_mut());
            presented.map_err(|fault| Unsent {
                begun: false,
                cause: fault.0.to_owned(),
            })?;
        }
        let response = link.carrier.send(request).await?;
        let status = response.status().as_u16();
        let fields = response.headers();
        if !matches!(status, 401 | 403) || exchange.method() == HttpMethod::Delete {
            authorizer.note_nonce(&url, fields);
            if view.awaits_success && response.status().is_success() {
                authorizer.note_success(reason);
            }
            return Ok(response);
        }
        let challenges = fields.get_all(WWW_AUTHENTICATE);
        let challenges = Challenge::parse_all(challenges.iter().map(http::HeaderValue::as_bytes));
        if status == 403 && !challenges.iter().any(lacks_scope) {
            return Ok(response);
        }
        let nonce = dpop_nonce(fields).map(str::to_owned);
        let demands_nonce = challenges.iter().any(demands_nonce);
        // Another request may have led to new credentials while this one was on its way.
        if !authorizer.is_current(view.version) && !demands_nonce {
            drain(authorizer, response).await;
            continue;
        }
        let refusal = RefusedResponse {
            url: &url,
            status,
            challenges: &challenges,
            dpop_nonce: nonce.as_deref(),
        };
        let judged = authorizer.judge(&mut refusals, &refusal, view.held.as_deref());
        let goal = match judged.map_err(|error| Arc::new(AuthorizationError::Flow(error)))? {
            Remedy::NewProof => None,
            Remedy::Refresh => Some(Goal::Refresh),
            Remedy::Authorize(challenge) => {
                // A message that no call waits for does not ask the user a second time.
                if exchange.id().is_none() && view.held.is_some() {
                    return Ok(response);
                }
                Some(Goal::Authorize(challenge))
            }
            _ => return Ok(response),
        };
        drain(authorizer, response).await;
        let Some(goal) = goal else { continue };
        let (is_authorization, asked_for) = match &goal {
            Goal::Authorize(challenge) => (true, Reason::of(challenge.as_ref())),
            _ => (false, Reason::of(None)),
        };
        let authorized = authorizer.authorize(goal, view.version);
        let obtained = while_suspended(link, exchange, authorized).await?;
        if is_authorization && obtained == Obtained::Otherwise {
            refusals.other_authorization_ran();
        }
        reason = Some(asked_for);
    }
}

fn lacks_scope(challenge: &Challenge) -> bool {
    presents_token(challenge) && challenge.parameter("error") == Some("insufficient_scope")
}

fn demands_nonce(challenge: &Challenge) -> bool {
    presents_token(challenge) && challenge.parameter("error") == Some("use_dpop_nonce")
}

fn presents_token(challenge: &Challenge) -> bool {
    challenge.is(Scheme::Bearer) || challenge.is(Scheme::Dpop)
}

/// Reads the rest of a refusal, so that its connection can be used again.
async fn drain(authorizer: &Authorizer, response: Response<Reply>) {
    let rest = whole(response.into_body(), REFUSAL);
    within(authorizer.runtime(), DRAIN, rest).await;
}

/// Waits for the client's own side. The timeouts of the requests do not run meanwhile.
async fn while_suspended<F: Future>(link: &Link, exchange: &Exchange, future: F) -> F::Output {
    let mut future = pin!(future);
    let mut is_suspended = false;
    poll_fn(|cx| {
        let polled = future.as_mut().poll(cx);
        match polled {
            Poll::Pending if !is_suspended => {
                exchange.ids().for_each(|id| link.suspend_timeout(id));
            }
            Poll::Ready(_) if is_suspended => {
                exchange.ids().for_each(|id| link.restart_timeout(id));
            }
            _ => {}
        }
        is_suspended = polled.is_pending();
        polled
    })
    .await
}

const DRAIN: Duration = Duration::from_secs(1);
