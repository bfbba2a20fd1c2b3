//! What a program would write by hand over hyper: it reads a call, and answers it.

use std::convert::Infallible;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::rt::ReadBufCursor;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use smol::io::{AsyncRead as _, AsyncWrite as _};

pub(crate) fn on_tokio(socket: TcpListener) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    socket.set_nonblocking(true)?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(socket)?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let connection =
                http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer));
            tokio::spawn(connection);
        }
    })
}

pub(crate) fn on_smol(socket: TcpListener) -> io::Result<()> {
    smol::block_on(async {
        let listener = smol::Async::new(socket)?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.get_ref().set_nodelay(true)?;
            let connection =
                http1::Builder::new().serve_connection(Wire(stream), service_fn(answer));
            smol::spawn(connection).detach();
        }
    })
}

async fn answer(request: Request<Incoming>) -> Result<Response<Answer>, Infallible> {
    if request.method() == Method::GET {
        let mut response = Response::new(Answer::Open(EVENT));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        return Ok(response);
    }
    let body = Limited::new(request.into_body(), MOST).collect().await;
    let mut said = Vec::with_capacity(128);
    let _ = body.ok().and_then(|body| say(&body.to_bytes(), &mut said));
    let mut response = Response::new(Answer::Whole(said.into()));
    if response.body().is_end_stream() {
        *response.status_mut() = StatusCode::ACCEPTED;
    }
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

/// Appends the answer to a line, with a line feed, if it is a call or the first request of a session.
pub(crate) fn answer_line(line: &[u8], answers: &mut Vec<u8>) {
    if say(line, answers).is_none() {
        if !line.windows(FIRST.len()).any(|text| text == FIRST) {
            return;
        }
        answers.extend_from_slice(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    }
    answers.push(b'\n');
}

const FIRST: &[u8] = br#""method":"initialize""#;

/// Appends the answer if the body is a call.
fn say(body: &[u8], answer: &mut Vec<u8>) -> Option<()> {
    let call: Call<'_> = serde_json::from_slice(body).ok()?;
    if call.jsonrpc != "2.0" || call.method != "tools/call" || call.params.name != "echo" {
        return None;
    }
    let said = Said {
        jsonrpc: "2.0",
        id: call.id,
        result: Outcome {
            content: [Content {
                kind: "text",
                text: &call.params.arguments.text,
            }],
        },
    };
    serde_json::to_writer(answer, &said).ok()
}

/// A socket of smol as hyper wants it.
struct Wire(smol::Async<TcpStream>);

impl hyper::rt::Read for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let mut bytes = [0; 4096];
        let wanted = buffer.remaining().min(bytes.len());
        let read = ready!(Pin::new(&mut self.0).poll_read(cx, &mut bytes[..wanted]))?;
        buffer.put_slice(&bytes[..read]);
        Poll::Ready(Ok(()))
    }
}

impl hyper::rt::Write for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, slices)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_close(cx)
    }
}

/// One message, or one event with nothing behind it for as long as the client likes.
enum Answer {
    Whole(Bytes),
    Open(Bytes),
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let (Self::Whole(text) | Self::Open(text)) = &mut *self;
        let text = std::mem::take(text);
        match (&*self, text.is_empty()) {
            (_, false) => Poll::Ready(Some(Ok(Frame::data(text)))),
            (Self::Whole(_), true) => Poll::Ready(None),
            (Self::Open(_), true) => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(text) if text.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(text) => SizeHint::with_exact(text.len() as u64),
            Self::Open(_) => SizeHint::default(),
        }
    }
}

#[derive(Deserialize)]
struct Call<'a> {
    jsonrpc: &'a str,
    #[serde(borrow)]
    id: &'a RawValue,
    method: &'a str,
    params: Parameters<'a>,
}

#[derive(Deserialize)]
struct Parameters<'a> {
    name: &'a str,
    #[serde(borrow)]
    arguments: Arguments<'a>,
}

#[derive(Deserialize)]
struct Arguments<'a> {
    #[serde(borrow)]
    text: std::borrow::Cow<'a, str>,
}

#[derive(Serialize)]
struct Said<'a> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    result: Outcome<'a>,
}

#[derive(Serialize)]
struct Outcome<'a> {
    content: [Content<'a>; 1],
}

#[derive(Serialize)]
struct Content<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
}

/// As large a body as the others take.
const MOST: usize = 4 << 20;

const EVENT: Bytes = Bytes::from_static(b"id: 0\ndata: \n\n");
