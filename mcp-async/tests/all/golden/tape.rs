//! What passes between a client and a server, line by line.

use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, Request, Response};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Full};
use mcp_async::http::{HttpBody, HttpService};
use tower_service::Service;

use crate::golden::names::Names;
use crate::golden::transcript::Transcript;

/// Shared by all who write on it.
#[derive(Clone, Default)]
pub(crate) struct Tape(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    names: Names,
    lines: Vec<(String, String)>,
}

impl Tape {
    pub(crate) fn line(&self, mark: &str, text: &str) {
        let mut state = self.0.lock().unwrap();
        let text = state.names.replace(text);
        state.lines.push((mark.to_owned(), text));
    }

    /// The text with the random values that names stand for.
    pub(crate) fn restore(&self, text: &str) -> String {
        self.0.lock().unwrap().names.restore(text)
    }

    /// Forgets what was written; names stay.
    pub(crate) fn erase(&self) {
        self.0.lock().unwrap().lines.clear();
    }

    /// Hands over what was written.
    pub(crate) fn write_down(&self, transcript: &mut Transcript) {
        let lines = core::mem::take(&mut self.0.lock().unwrap().lines);
        for (mark, text) in lines {
            transcript.line(&mark, &text);
        }
    }

    /// Writes the fields of a head in the order of their names, without the usual ones.
    pub(crate) fn fields(&self, mark: &str, fields: &HeaderMap) {
        let mut lines: Vec<String> = Vec::new();
        for (name, value) in fields {
            let value = String::from_utf8_lossy(value.as_bytes());
            let line = format!("{name}: {value}");
            if !USUAL.contains(&&*line) && name != "content-length" {
                lines.push(line);
            }
        }
        lines.sort();
        for line in lines {
            self.line(mark, &format!("  {line}"));
        }
    }
}

const USUAL: [&str; 8] = [
    "host: localhost",
    "accept: application/json, text/event-stream",
    "accept: text/event-stream",
    "content-type: application/json",
    "content-type: text/event-stream",
    "cache-control: no-cache",
    "x-accel-buffering: no",
    "accept-encoding: gzip, deflate",
];

/// What an exchange is called: by the id of its request, or by what else it is.
pub(crate) fn label(parts: &Parts, body: &str) -> String {
    let id = crate::golden::script::member(body, "id");
    let asks = crate::golden::script::member(body, "method").is_some();
    match id {
        Some(id) if asks => id.trim_matches('"').to_owned(),
        _ if parts.method == http::Method::POST => "told".into(),
        _ => parts.method.as_str().to_ascii_lowercase(),
    }
}

/// A service whose exchanges are written down.
#[derive(Clone)]
pub(crate) struct Recorder {
    pub(crate) tape: Tape,
    pub(crate) service: HttpService,
}

impl Service<Request<Full<Bytes>>> for Recorder {
    type Response = Response<Recorded>;
    type Error = core::convert::Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let Self { tape, mut service } = self.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let Ok(body) = body.collect().await;
            let body = body.to_bytes();
            let text = String::from_utf8_lossy(&body).into_owned();
            let label = label(&parts, &text);
            let mark = format!(">{label}");
            let target = parts.uri.path_and_query().map_or("", |it| it.as_str());
            tape.line(&mark, &format!("{} {target}", parts.method));
            tape.fields(&mark, &parts.headers);
            if !text.is_empty() {
                tape.line(&mark, &text);
            }
            let mut open = Open {
                tape: tape.clone(),
                mark: format!("<{label}"),
                ended: false,
            };
            let request = Request::from_parts(parts, Full::new(body));
            let Ok(response) = service.call(request).await;
            let (parts, body) = response.into_parts();
            tape.line(&open.mark, parts.status.as_str());
            tape.fields(&open.mark, &parts.headers);
            open.ended = body.is_end_stream();
            Ok(Response::from_parts(parts, Recorded { body, open }))
        })
    }
}

/// Says so if it is dropped before its end.
struct Open {
    tape: Tape,
    mark: String,
    ended: bool,
}

impl Drop for Open {
    fn drop(&mut self) {
        if !self.ended {
            self.tape.line(&self.mark.replace('<', ">"), "closed");
        }
    }
}

/// A body whose frames are written down.
pub(crate) struct Recorded {
    body: HttpBody,
    open: Open,
}

impl Body for Recorded {
    type Data = Bytes;
    type Error = <HttpBody as Body>::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let Self { body, open } = &mut *self;
        let frame = Pin::new(body).poll_frame(cx);
        match &frame {
            Poll::Ready(Some(Ok(frame))) => {
                let data = frame.data_ref().map_or(&[][..], |data| &**data);
                for line in data
                    .split(|byte| *byte == b'\n')
                    .filter(|it| !it.is_empty())
                {
                    open.tape.line(&open.mark, &String::from_utf8_lossy(line));
                }
            }
            Poll::Ready(None) => {
                open.ended = true;
                open.tape.line(&open.mark, "end");
            }
            _ => {}
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}
