//! Requests that another process has forwarded: the side of the owner.

use core::future::poll_fn;
use core::pin::{Pin, pin};
use core::task::{Context, Poll};
use std::sync::Arc;

use http::Request;
use http_body::Body;

use super::super::answer::{self, Answer};
use super::super::body::HttpBody;
use super::message::{Message, NotOwner, RequestLine, StatusLine};
use super::serving::Serving;
use super::this_process::Processes;
use crate::net::time::race;

impl Processes {
    /// Lets `serve` answer a request of another process, and sends it the response.
    pub(super) async fn serve_forwarded<F: Future<Output = Answer> + Send>(
        self: Arc<Self>,
        (from, number): (String, u64),
        (head, body): (RequestLine, Vec<u8>),
        serve: impl FnOnce(Request<HttpBody>) -> F + Send,
    ) {
        let Some(serving) = self.accept(&from, number) else {
            return;
        };
        let respond = async {
            let response = match head.request(&body) {
                Some(request) => serve(request).await,
                None => answer::busy("another process sent no request"),
            };
            send_response(&self, &serving, (&from, number), response).await;
        };
        // What has not been sent when the client is gone is dropped.
        race(pin!(respond), pin!(serving.cancelled())).await;
        self.forget(from, number);
    }
}

/// Sends a response in parts, until the response ends or the forwarding process stops reading.
async fn send_response(
    processes: &Processes,
    serving: &Serving,
    (from, number): (&str, u64),
    response: Answer,
) {
    if response.extensions().get::<NotOwner>().is_some() {
        processes.send(from, &Message::Moved { number }, &[]).await;
        return;
    }
    let mut head = Some(StatusLine::of(&response));
    let mut body = response.into_body();
    let mut part = 0;
    loop {
        let began = head.is_none();
        let (bytes, end) = poll_fn(|cx| poll_part(&mut body, began, cx)).await;
        serving.room(part).await;
        let message = match head.take() {
            Some(head) => Message::Response { number, head, end },
            None => Message::Part { number, part, end },
        };
        if !processes.send(from, &message, &bytes).await || end {
            return;
        }
        part += 1;
    }
}

/// What there is of a body, and whether it has ended. Before it began, there may be nothing.
fn poll_part(body: &mut HttpBody, began: bool, cx: &mut Context<'_>) -> Poll<(Vec<u8>, bool)> {
    let mut part = Vec::new();
    while part.len() < MAX_PART {
        match Pin::new(&mut *body).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                if let Ok(data) = frame.into_data() {
                    part.extend_from_slice(&data);
                }
            }
            Poll::Ready(None) => return Poll::Ready((part, true)),
            Poll::Pending if part.is_empty() && began => return Poll::Pending,
            Poll::Pending => break,
        }
    }
    let end = body.is_end_stream();
    Poll::Ready((part, end))
}

/// A part is sent when it is so long.
const MAX_PART: usize = 64 << 10;
