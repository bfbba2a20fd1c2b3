//! Sends a request, and tells a server what has no answer.

use core::future::poll_fn;
use core::time::Duration;

use bytes::Bytes;
use http::Response;
use mcp_proto::client::http::Exchange;

#[cfg(feature = "auth")]
use super::authorized;
use super::carrier::{NoReply, REFUSAL, Reply, whole};
use super::link::{Link, Received};
use crate::client::UnsentMessage;
use crate::runtime::within;

pub(super) async fn ask(
    link: &Link,
    exchange: &Exchange,
    message: &UnsentMessage,
) -> Result<Response<Reply>, NoReply> {
    #[cfg(feature = "auth")]
    if let Some(authorizer) = &link.authorizer {
        // In a box: an exchange without authorization has no room for it.
        return Box::pin(authorized::send(link, authorizer, exchange, message)).await;
    }
    let request = link.request(exchange, message)?;
    Ok(link.carrier.send(request).await?)
}

/// Tells the server something that has no answer.
pub(super) async fn tell(link: &Link, message: Vec<u8>) {
    let message = UnsentMessage::written(Bytes::from(message));
    let exchange = link.origin(|origin| Exchange::new(origin, &message.message()));
    let told = async {
        if let Ok(response) = ask(link, &exchange, &message).await {
            whole(response.into_body(), REFUSAL).await;
        }
    };
    // Whatever becomes of it: other exchanges find out that a session is gone.
    within(link.runtime(), PATIENCE, told).await;
}

/// The messages for the connection: those that were received, unless others were written instead.
pub(super) fn replaced(link: &Link, received: Received, instead: Vec<u8>) -> Received {
    match instead.is_empty() {
        true => received,
        false => link.parse(instead),
    }
}

/// Hands messages to the connection.
pub(super) async fn deliver(link: &Link, messages: Option<Received>) {
    let mut messages = messages;
    poll_fn(|cx| link.poll_deliver(cx, &mut messages)).await;
}

/// The time in which a server must accept a notification. All other messages wait for
/// `initialized`, and calls wait longer than this.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
