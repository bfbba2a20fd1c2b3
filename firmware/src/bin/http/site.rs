//! The endpoint, and the machine of each request.

use mcp_firmware::BUFFER;
use mcp_firmware::app::{self, App};
use mcp_proto::http::{Endpoint, Head, Opening, Post, PostStatus, Refusal, Route};
use mcp_proto::rpc::Messages;
use mcp_proto::server::{
    ConstantConfig, Event, Fixed, OverHttp, Server, ServerConfig, SessionSnapshot,
    WithoutSubscriptions,
};
use mcp_proto::{
    Action, AtOnce, Conversation, Heapless, Instant, Limits, Outbox, Outcome, Source, Verdict,
};

/// One request, of an id of 64 bytes.
type Storage = OverHttp<WithoutSubscriptions<Fixed<1, 0, 0, 0, 64>>>;

/// The depth to which arrays and objects nest.
const DEPTH: u8 = 16;

/// The settings, which the compiler knows.
struct Settings;

impl ConstantConfig for Settings {
    const CONFIG: ServerConfig<'static> = ServerConfig {
        capabilities: app::capabilities(),
        limits: Limits {
            depth: DEPTH,
            ..Limits::DEFAULT
        },
        ..ServerConfig::new("firmware", env!("CARGO_PKG_VERSION"))
    };
}

/// The endpoint, its application, and the buffer of an answer.
pub(crate) struct Site {
    endpoint: Endpoint<'static>,
    app: App,
    outbox: Outbox<Heapless<u8, BUFFER>>,
}

impl Site {
    pub(crate) fn new() -> Self {
        Self {
            // Access is that of `localhost`: a program for a real network names its own hosts.
            endpoint: Endpoint {
                sessions: false,
                ..Endpoint::default()
            },
            app: App::default(),
            outbox: Outbox::new(Heapless::new(), &Settings::CONFIG.limits),
        }
    }

    /// Accepts a head.
    pub(crate) fn open<'h>(&self, head: &'h impl Head) -> Result<Post<'h>, Refusal> {
        match self.endpoint.open(head)? {
            Opening::Post(post) => Ok(post),
            // Without sessions there are no others but those of browsers.
            _ => Err(Refusal::Method),
        }
    }

    /// Returns the status and the body of the response.
    pub(crate) fn answer(&mut self, post: &Post<'_>, body: &[u8]) -> Result<(u16, &[u8]), Refusal> {
        let mut messages = Messages::new(body, DEPTH);
        let message = messages.next().ok_or(Refusal::BodyUnreadable)?;
        let now = Instant::ZERO;
        let Ok(mut server) = Server::constant::<Settings>(Storage::default()) else {
            return Err(UNANSWERED);
        };
        match self.endpoint.route(post, &message) {
            Route::Stateless(revision) => {
                server.resume(now, &SessionSnapshot::stateless(revision));
            }
            Route::Modern | Route::Initialize => {}
            Route::Session(_) => return Err(Refusal::SessionUnknown),
            Route::Refuse(refusal) => return Err(refusal),
        }
        self.outbox.consume(self.outbox.pending().len());
        let mut at_once = AtOnce::default();
        let mut conversation = Conversation {
            machine: &mut server,
            outgoing: &mut at_once,
            outbox: &mut self.outbox,
        };
        let (source, mut status) = (Source::post(AtOnce::CHANNEL, post), PostStatus::default());
        let look = |action: &Action<_, _>| status.note(&message, action.http_status());
        if let Some(Event::Request {
            token,
            method,
            context,
            ..
        }) = conversation.handle(now, &source, message, look)
        {
            let respond = |outcome: Outcome<'_>| -> Verdict {
                let written = conversation.put(|server, out| server.respond(token, outcome, out));
                written.into()
            };
            // It is over: the core has replaced an answer that does not fit.
            let _ = self.app.request(method, context, respond);
        }
        at_once
            .response(status.get(), &self.outbox)
            .ok_or(UNANSWERED)
    }
}

/// A tool has not answered at once.
const UNANSWERED: Refusal = Refusal::Unavailable("there is no answer");
