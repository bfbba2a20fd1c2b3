//! A server made of what a test answers.

use core::cell::Cell;
use core::future::{Future, poll_fn};
use core::pin::{Pin, pin};
use core::task::{Context, Poll, Waker};
use mcp_async::http::HttpConnector;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Full};
use mcp_async::Client;
use mcp_async::client::{ClientBuilder, ConnectError};
use mcp_async::runtime::Runtime;
use mcp_proto::{Revision, RevisionSet};
use tower_service::Service;

use super::messages::{message, request_id};
use crate::sim::{self, Sim, clock};

/// Runs a client and its server until the client is done, and then the server's script to its
/// end. Time passes only when nothing else happens.
pub(crate) fn check<C, S>(
    client: impl FnOnce(HttpServer) -> C,
    server: impl FnOnce(HttpServer) -> S,
) where
    C: Future<Output = ()>,
    S: Future<Output = ()>,
{
    let site = HttpServer::default();
    play(pin!(client(site.clone())), pin!(server(site)));
    sim::end();
}

/// Runs a client of this revision, once it is connected, and its server.
pub(crate) fn check_in<C, S>(
    revision: Revision,
    client: impl FnOnce(Client) -> C,
    server: impl FnOnce(HttpServer) -> S,
) where
    C: Future<Output = ()>,
    S: Future<Output = ()>,
{
    check(
        |site| async move { client(site.connect(&[revision]).await.unwrap()).await },
        |site| async move {
            site.open(revision).await;
            server(site).await;
        },
    );
}

fn play(
    mut client: Pin<&mut dyn Future<Output = ()>>,
    mut server: Pin<&mut dyn Future<Output = ()>>,
) {
    let done = Cell::new([false; 2]);
    let both = poll_fn(|cx| {
        let [client_done, server_done] = done.get();
        let client_done = client_done || client.as_mut().poll(cx).is_ready();
        let server_done = server_done || server.as_mut().poll(cx).is_ready();
        done.set([client_done, server_done]);
        match client_done && server_done {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    });
    sim::drive(pin!(both), &mut || {
        let next = clock().next_deadline();
        assert!(next.is_some(), "nothing happens any more: {done:?}");
    });
}

/// What the client's requests arrive at.
#[derive(Clone, Default)]
pub(crate) struct HttpServer(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    asked: VecDeque<Asked>,
    waker: Option<Waker>,
}

/// A request that waits for its reply.
pub(crate) struct Asked {
    pub(crate) verb: String,
    pub(crate) target: String,
    pub(crate) body: String,
    pub(crate) at: u64,
    fields: http::HeaderMap,
    slot: Arc<Mutex<Slot>>,
}

#[derive(Default)]
struct Slot {
    reply: Option<Result<Response<Stream>, Cut>>,
    waker: Option<Waker>,
    /// The client lost interest.
    dropped: bool,
}

impl HttpServer {
    pub(crate) fn client(&self, revisions: &[Revision]) -> ClientBuilder {
        Client::builder("t", "1").revisions(RevisionSet::of(revisions))
    }

    pub(crate) async fn connect(&self, revisions: &[Revision]) -> Result<Client, ConnectError> {
        self.join(self.client(revisions)).await
    }

    pub(crate) async fn join(&self, builder: ClientBuilder) -> Result<Client, ConnectError> {
        builder
            .connect(HttpConnector::new(Sim, "http://localhost:80/mcp?x=1#y").through(self.clone()))
            .await
    }

    /// The next request.
    pub(crate) async fn next(&self) -> Asked {
        poll_fn(|cx| {
            let mut state = self.0.lock().unwrap();
            match state.asked.pop_front() {
                Some(asked) => Poll::Ready(asked),
                None => {
                    state.waker = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// The next request, whose body or verb holds this.
    #[track_caller]
    pub(crate) fn expect(&self, what: &str) -> impl Future<Output = Asked> {
        let caller = core::panic::Location::caller();
        async move {
            let asked = self.next().await;
            let found = asked.body.contains(what) || asked.verb == what;
            assert!(found, "{caller}: {} {}", asked.verb, asked.body);
            asked
        }
    }

    /// All that was asked until now.
    pub(crate) fn take(&self) -> VecDeque<Asked> {
        core::mem::take(&mut self.0.lock().unwrap().asked)
    }

    /// Nothing more was asked.
    pub(crate) fn quiet(&self) {
        let state = self.0.lock().unwrap();
        let asked = state.asked.front();
        assert!(asked.is_none(), "{}", asked.unwrap().body);
    }

    /// Answers the first requests of this revision; a session has no stream of the server's.
    pub(crate) async fn open(&self, revision: Revision) {
        match revision.is_modern() {
            true => self.expect("server/discover").await.discovered(),
            false => self.open_listening(revision).await.refuse(405, ""),
        }
    }

    /// Opens a session of this revision, and returns the request for a stream of the server's.
    pub(crate) async fn open_listening(&self, revision: Revision) -> Asked {
        self.expect("\"initialize\"").await.session(revision);
        self.expect("notifications/initialized").await.accept();
        self.expect("GET").await
    }
}

impl Service<Request<Full<Bytes>>> for HttpServer {
    type Response = Response<Stream>;
    type Error = Cut;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Stream>, Cut>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Cut>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let site = self.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            let slot = Arc::new(Mutex::new(Slot::default()));
            let asked = Asked {
                verb: parts.method.to_string(),
                target: parts.uri.to_string(),
                body: String::from_utf8(body.to_vec()).unwrap(),
                at: Sim.now().as_millis(),
                fields: parts.headers,
                slot: Arc::clone(&slot),
            };
            let waker = {
                let mut state = site.0.lock().unwrap();
                state.asked.push_back(asked);
                state.waker.take()
            };
            waker.into_iter().for_each(Waker::wake);
            let waiting = Waiting(slot);
            poll_fn(|cx| {
                let mut slot = waiting.0.lock().unwrap();
                match slot.reply.take() {
                    Some(reply) => Poll::Ready(reply),
                    None => {
                        slot.waker = Some(cx.waker().clone());
                        Poll::Pending
                    }
                }
            })
            .await
        })
    }
}

struct Waiting(Arc<Mutex<Slot>>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.lock().unwrap().dropped = true;
    }
}

impl Asked {
    /// The value of a field, or nothing.
    pub(crate) fn field(&self, name: &str) -> &str {
        let value = self.fields.get(name);
        value.map_or("", |value| value.to_str().unwrap())
    }

    /// The request's id.
    pub(crate) fn id(&self) -> &str {
        request_id(&self.body)
    }

    pub(crate) fn is_dropped(&self) -> bool {
        self.slot.lock().unwrap().dropped
    }

    /// Answers with a result.
    pub(crate) fn result(self, result: &str) {
        let id = self.id().to_owned();
        self.json(200, "", &format!("{id} = {result}"));
    }

    /// Answers the handshake and opens session `s-ID`.
    pub(crate) fn session(self, revision: Revision) {
        let id = self.id().to_owned();
        self.json(
            200,
            &format!("s-{id}"),
            &format!(
                r#"{id} = {{"protocolVersion":"{revision}","capabilities":{{"tools":{{}},"logging":{{}},"resources":{{"subscribe":true}}}},"serverInfo":{{"name":"s","version":"1"}}}}"#
            ),
        );
    }

    /// Answers the probe.
    pub(crate) fn discovered(self) {
        self.result(
            r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"ttlMs":0,"cacheScope":"private"}"#,
        );
    }

    /// Answers with a message, in short or in full.
    pub(crate) fn json(self, status: u16, session: &str, body: &str) {
        let stream = Wire::new("application/json");
        stream.send(&message(body));
        stream.end();
        self.reply(status, session, stream.body());
    }

    pub(crate) fn refuse(self, status: u16, body: &str) {
        let stream = Wire::new("text/plain");
        stream.send(body);
        stream.end();
        self.reply(status, "", stream.body());
    }

    /// Refuses with these fields in the head.
    pub(crate) fn refuse_with(self, status: u16, fields: &[(&str, &str)]) {
        let stream = Wire::new("");
        stream.end();
        let mut response = Response::builder().status(status);
        for (name, value) in fields {
            response = response.header(*name, *value);
        }
        self.set(Ok(response.body(stream.body()).unwrap()));
    }

    /// Answers without saying with what.
    pub(crate) fn untyped(self, body: &str) {
        let stream = Wire::new("");
        stream.send(body);
        stream.end();
        self.reply(200, "", stream.body());
    }

    pub(crate) fn accept(self) {
        self.refuse(202, "");
    }

    /// Answers with an event stream.
    pub(crate) fn stream(self) -> Wire {
        let stream = Wire::new("text/event-stream");
        self.reply(200, "", stream.body());
        stream
    }

    /// Answers with an event stream, and returns the id of the request as well.
    pub(crate) fn id_and_stream(self) -> (String, Wire) {
        (self.id().to_owned(), self.stream())
    }

    /// Does not answer at all.
    pub(crate) fn vanish(self) {
        self.set(Err(Cut));
    }

    fn reply(self, status: u16, session: &str, body: Stream) {
        let mut response = Response::builder().status(status);
        let content_type = body.0.lock().unwrap().content_type;
        if !content_type.is_empty() {
            response = response.header("content-type", content_type);
        }
        if !session.is_empty() {
            response = response.header("mcp-session-id", session);
        }
        self.set(Ok(response.body(body).unwrap()));
    }

    fn set(self, reply: Result<Response<Stream>, Cut>) {
        let waker = {
            let mut slot = self.slot.lock().unwrap();
            slot.reply = Some(reply);
            slot.waker.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }
}

/// The server's end of a body.
pub(crate) struct Wire(Arc<Mutex<Pipe>>);

/// The client's end.
pub(crate) struct Stream(Arc<Mutex<Pipe>>);

struct Pipe {
    content_type: &'static str,
    pieces: VecDeque<Bytes>,
    end: Option<Result<(), Cut>>,
    waker: Option<Waker>,
    dropped: bool,
}

#[derive(Debug)]
pub(crate) struct Cut;

impl core::fmt::Display for Cut {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("cut")
    }
}

impl core::error::Error for Cut {}

impl Wire {
    fn new(content_type: &'static str) -> Self {
        Self(Arc::new(Mutex::new(Pipe {
            content_type,
            pieces: VecDeque::new(),
            end: None,
            waker: None,
            dropped: false,
        })))
    }

    fn body(&self) -> Stream {
        Stream(Arc::clone(&self.0))
    }

    pub(crate) fn send(&self, text: &str) {
        self.change(|pipe| {
            pipe.pieces
                .push_back(Bytes::copy_from_slice(text.as_bytes()));
        });
    }

    pub(crate) fn send_static(&self, text: &'static str) {
        self.change(|pipe| {
            pipe.pieces.push_back(Bytes::from_static(text.as_bytes()));
        });
    }

    /// How many pieces were not read yet.
    pub(crate) fn left(&self) -> usize {
        self.0.lock().unwrap().pieces.len()
    }

    /// Sends an event with this message, in short or in full.
    pub(crate) fn event(&self, text: &str) {
        self.send(&format!("data: {}\n\n", message(text)));
    }

    /// Sends an event with this id and message.
    pub(crate) fn event_with_id(&self, id: &str, text: &str) {
        self.send(&format!("id: {id}\ndata: {}\n\n", message(text)));
    }

    pub(crate) fn end(&self) {
        self.change(|pipe| pipe.end = Some(Ok(())));
    }

    pub(crate) fn cut(&self) {
        self.change(|pipe| pipe.end = Some(Err(Cut)));
    }

    pub(crate) fn is_dropped(&self) -> bool {
        self.0.lock().unwrap().dropped
    }

    fn change(&self, change: impl FnOnce(&mut Pipe)) {
        let waker = {
            let mut pipe = self.0.lock().unwrap();
            change(&mut pipe);
            pipe.waker.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }
}

impl Body for Stream {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        let mut pipe = self.0.lock().unwrap();
        if let Some(piece) = pipe.pieces.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        match pipe.end.take() {
            Some(Ok(())) => Poll::Ready(None),
            Some(Err(cut)) => Poll::Ready(Some(Err(cut))),
            None => {
                pipe.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        let pipe = self.0.lock().unwrap();
        pipe.pieces.is_empty() && matches!(pipe.end, Some(Ok(())))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.0.lock().unwrap().dropped = true;
    }
}
