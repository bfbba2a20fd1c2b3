//! The server over HTTP, driven as its documentation says.

use mcp_proto::http::{Endpoint, Head};
use mcp_proto::server::http::streams::StreamRead;
use mcp_proto::server::http::{
    Commands, ExchangeId, HttpOptions, HttpServer, HttpStep, PostBody, ServerId,
};
use mcp_proto::server::{Event, ServerConfig};
use mcp_proto::{Action, IgnoreReason, Instant};

/// The application of the server.
pub(crate) trait Application {
    fn on(&mut self, now: Instant, event: &Event<'_>, commands: Commands<'_, 'static>);

    /// A message had no effect.
    fn ignored(&mut self, _: IgnoreReason) {}
}

/// A server, and its time.
pub(crate) struct Served {
    pub(crate) http: HttpServer<'static>,
    pub(crate) now: Instant,
    /// The principal of the requests.
    pub(crate) principal: Option<&'static str>,
}

/// The head of a response.
pub(crate) struct Response {
    pub(crate) status: u16,
    /// The length of the body; `None` for an event stream.
    pub(crate) length: Option<usize>,
    pub(crate) close: bool,
    fields: Vec<(&'static str, String)>,
}

impl Response {
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(other, _)| *other == name)?;
        Some(&found.1)
    }
}

impl Served {
    pub(crate) fn new(
        endpoint: Endpoint<'static>,
        config: ServerConfig<'static>,
        options: HttpOptions,
    ) -> Self {
        Self {
            http: HttpServer::new(endpoint, config, options).unwrap(),
            now: Instant::ZERO,
            principal: None,
        }
    }

    /// Sends a whole request; a session that it opens gets this id. Returns the machine that its messages went to.
    pub(crate) fn request(
        &mut self,
        app: &mut impl Application,
        head: &impl Head,
        body: &[u8],
        session: impl FnOnce() -> String,
    ) -> (ExchangeId, Option<ServerId>) {
        let exchange = self.http.open(self.now, head, self.principal);
        // Parts of any length make the same body.
        for part in body.chunks(7) {
            self.http.body(exchange, part);
        }
        let body = self.http.end_body(self.now, exchange, session);
        let machine = body.as_ref().map(PostBody::machine);
        if let Some(body) = body {
            self.handle(app, body);
        }
        self.work(app);
        (exchange, machine)
    }

    /// Handles the messages of a body.
    pub(crate) fn handle(&mut self, app: &mut impl Application, body: PostBody) {
        let Self { http, now, .. } = self;
        for message in body.messages() {
            match http.receive(*now, &body, message) {
                Action::Event(event) => {
                    if let Some(commands) = http.commands(body.machine()) {
                        app.on(*now, &event, commands);
                    }
                }
                Action::Ignore(why) => app.ignored(why),
                Action::Done => {}
            }
        }
        http.finish(*now, body);
    }

    /// Does all there is to do.
    pub(crate) fn work(&mut self, app: &mut impl Application) {
        let Self { http, now, .. } = self;
        loop {
            match http.step(*now) {
                HttpStep::Event { machine, event } => {
                    if let Some(commands) = http.commands(machine) {
                        app.on(*now, &event, commands);
                    }
                }
                HttpStep::Ready(_) => {}
                HttpStep::Idle => break,
            }
        }
        let next = http.poll_timeout();
        assert!(next.is_none_or(|next| next > *now), "{next:?}");
    }

    pub(crate) fn response(&mut self, exchange: ExchangeId) -> Option<Response> {
        let head = self.http.response(exchange)?;
        let mut fields = Vec::new();
        head.fields(|name, value| {
            let text = String::from_utf8(value.as_bytes().to_vec()).unwrap();
            fields.push((name, text));
        });
        Some(Response {
            status: head.status,
            length: head.length,
            close: head.close,
            fields,
        })
    }

    /// The bytes of a body so far, read in pieces of `piece` bytes, and true if it has ended.
    pub(crate) fn read(
        &mut self,
        app: &mut impl Application,
        exchange: ExchangeId,
        piece: usize,
    ) -> (Vec<u8>, bool) {
        let mut out = Vec::new();
        let ended = loop {
            match self.http.read(self.now, exchange, &mut out, piece) {
                StreamRead::More => {}
                StreamRead::Pending => break false,
                StreamRead::End => break true,
            }
        };
        self.work(app);
        (out, ended)
    }
}
