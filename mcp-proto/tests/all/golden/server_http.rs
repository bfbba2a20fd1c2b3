//! A server behind HTTP without sockets: an endpoint, its sessions and their event streams.

use core::time::Duration;
use std::collections::BTreeMap;

use mcp_proto::http::{Endpoint, Head, Opening, Post, Refusal, Route};
use mcp_proto::rpc::{Incoming, Message, Messages, OwnedMessages};
use mcp_proto::server::http::streams::{Delivery, StreamLimits, StreamRead, StreamReader, Streams};
use mcp_proto::server::{Event, Growing, Server, ServerConfig, SessionSnapshot};
use mcp_proto::{
    Action, Channel, Instant, Machine, Revision, SendError, Source, Transmit, Written,
};

use super::heads::{BOTH, Heads, Request};
use super::peer::Peer;
use super::script::{Player, member};
use super::server::{App, Host, Sink, config, configure};
use super::text::{ignored, lines};
use super::transcript::Transcript;

pub(crate) struct Site {
    endpoint: Endpoint<'static>,
    config: ServerConfig<'static>,
    peer: Peer,
    heads: Heads,
    now: Instant,
    /// Those that clients opened by their ids, and those of one exchange by a number.
    sessions: BTreeMap<String, Session>,
    opened: u32,
    /// The session that commands are for.
    current: String,
    readers: Vec<(u32, String, StreamReader)>,
    streams: u32,
}

/// One machine, its streams and its application.
struct Session {
    host: Host,
    app: App,
    exits: Exits,
}

/// Where the messages of a machine go.
struct Exits {
    streams: Streams,
    /// The channel of the last POST, and the status that was said on it first.
    posted: Channel,
    status: Option<u16>,
    question: Option<String>,
}

/// What a POST is answered with.
enum Answer {
    Status(u16),
    Json(u16, Vec<u8>),
    Events(StreamReader),
}

impl Sink for Exits {
    fn put<T: Written>(
        &mut self,
        host: &mut Host,
        mut write: impl FnMut(&mut Host, &mut [u8]) -> Result<T, SendError>,
    ) -> Result<T, SendError> {
        let mut out = vec![0; 1 << 16];
        let written = write(host, &mut out)?;
        if let Some(Transmit {
            channel,
            len,
            end,
            status,
            is_error,
            ..
        }) = written.transmit()
        {
            let message = &out[..len];
            if channel == self.posted && len > 0 {
                self.status.get_or_insert(status);
            }
            let text = core::str::from_utf8(message).expect("messages are text");
            assert_eq!(is_error, member(text, "error").is_some(), "{text}");
            if member(text, "method").is_some() {
                self.question = member(text, "id").or(self.question.take());
            }
            self.streams.push(channel, message, written.request(), end);
        }
        Ok(written)
    }
}

impl Player for Site {
    fn new(revision: Revision) -> Self {
        let config = config();
        Self {
            endpoint: Endpoint {
                revisions: config.revisions,
                ..Endpoint::default()
            },
            config,
            peer: Peer::new(revision),
            heads: Heads::new(revision),
            now: Instant::from_millis(1_000),
            sessions: BTreeMap::new(),
            opened: 0,
            current: String::new(),
            readers: Vec::new(),
            streams: 0,
        }
    }

    fn command(&mut self, verb: &str, rest: &str, transcript: &mut Transcript) {
        match verb {
            "with" if rest == "no-sessions" => self.endpoint.sessions = false,
            "with" => {
                configure(&mut self.config, rest);
                self.endpoint.revisions = self.config.revisions;
                self.heads.draft |= self.config.draft_profile;
            }
            "head" => self.heads.next(rest),
            "get" | "delete" | "options" => {
                let (method, fields) = self.heads.bodiless(verb, rest);
                self.exchange(method, fields, "", transcript);
            }
            "close" => self.close(rest.parse().expect("a stream"), transcript),
            "disconnect" => {
                transcript.line(".", format!("{verb} {rest}").trim_end());
                let retry = rest.parse().ok().map(Duration::from_millis);
                if let Some(session) = self.sessions.get_mut(&self.current) {
                    let channel = session.exits.posted;
                    session.exits.streams.disconnect(channel, retry);
                }
            }
            "wait" => {
                transcript.line(".", &format!("{verb} {rest}"));
                let passed = rest.parse().expect("milliseconds");
                self.now = self.now + Duration::from_millis(passed);
                for session in self.sessions.values_mut() {
                    session.host.handle_timeout(self.now);
                    session.flush(self.now);
                    session.app.write_down(transcript);
                }
            }
            _ => self.talk(verb, rest, transcript),
        }
        self.read(transcript);
    }
}

impl Site {
    fn talk(&mut self, verb: &str, rest: &str, transcript: &mut Transcript) {
        if verb == "reply"
            && let Some(session) = self.sessions.get_mut(&self.current)
        {
            self.peer.question = session.exits.question.take();
        }
        if let Some(messages) = self.peer.say(verb, rest) {
            for message in messages {
                let fields = self.heads.post(&message);
                self.exchange("POST", fields, &message, transcript);
                self.read(transcript);
            }
            return;
        }
        transcript.line(".", format!("{verb} {rest}").trim_end());
        let everywhere = matches!(verb, "changed" | "updated");
        for (name, session) in &mut self.sessions {
            if everywhere || *name == self.current {
                session.command(self.now, (verb, rest));
                session.app.write_down(transcript);
            }
        }
    }

    fn exchange(
        &mut self,
        method: &'static str,
        fields: Vec<(String, String)>,
        body: &str,
        transcript: &mut Transcript,
    ) {
        let request = Request { method, fields };
        write_down(&request, transcript);
        if !body.is_empty() {
            transcript.line(">", body);
        }
        match self.endpoint.open(&request) {
            Ok(Opening::Post(post)) => self.post(&post, body, transcript),
            Ok(Opening::Get(get)) => {
                let id = get.session.as_str();
                let Some(session) = self.sessions.get_mut(id) else {
                    return transcript.line("<", "404");
                };
                let streams = &mut session.exits.streams;
                let reader = match get.last_event_id {
                    Some(id) => streams.resume(id),
                    None => {
                        let reader = streams.listen();
                        let app = &session.app;
                        streams.reopen(|question| app.is_open(question));
                        Ok(reader)
                    }
                };
                match reader {
                    Ok(reader) => self.connect(id.to_owned(), reader, transcript),
                    Err(refusal) => refused(refusal, transcript),
                }
            }
            Ok(Opening::Delete(session)) => {
                let status = match self.sessions.remove(session.as_str()) {
                    Some(_) => "204",
                    None => "404",
                };
                transcript.line("<", status);
            }
            Ok(Opening::Preflight) => transcript.line("<", "204, a preflight"),
            Err(refusal) => refused(refusal, transcript),
        }
    }

    fn post(&mut self, post: &Post<'_>, body: &str, transcript: &mut Transcript) {
        let limits = self.config.limits;
        let parsed = OwnedMessages::parse(body, limits.depth);
        let (name, session, opens) = match self.endpoint.route_body(post, &parsed) {
            Route::Refuse(refusal) => return refused(refusal, transcript),
            Route::Session(id) => {
                let id = id.as_str();
                match self.sessions.remove(id) {
                    Some(session) => (id.to_owned(), session, false),
                    None => return transcript.line("<", "404"),
                }
            }
            Route::Initialize => {
                self.opened += 1;
                let host = Server::new(self.config, Growing).unwrap();
                let session = Session::new(host, Delivery::Resumable);
                (format!("session-{}", self.opened), session, true)
            }
            Route::Modern => {
                let host = Server::new(self.config, Growing).unwrap();
                self.own(Session::new(host, Delivery::Once))
            }
            Route::Stateless(revision) => {
                let snapshot = SessionSnapshot::stateless(revision);
                let mut host = Server::new(self.config, Growing).unwrap();
                host.resume(self.now, &snapshot);
                self.own(Session::new(host, Delivery::Once))
            }
        };
        let mut session = session;
        let answer = session.take(self.now, post, body, limits.depth, transcript);
        if opens {
            self.heads.session = Some(name.clone());
        }
        let added = if opens {
            format!(", mcp-session-id: {name}")
        } else {
            String::new()
        };
        self.current.clone_from(&name);
        let own = name.starts_with("exchange");
        match answer {
            Answer::Status(status) => transcript.line("<", &format!("{status}{added}")),
            Answer::Json(status, body) => {
                transcript.line("<", &format!("{status} application/json{added}"));
                transcript.bytes("<", &body);
            }
            Answer::Events(reader) => {
                self.sessions.insert(name.clone(), session);
                return self.connect(name, reader, transcript);
            }
        }
        if !own {
            self.sessions.insert(name, session);
        }
    }

    /// A machine for one exchange.
    fn own(&mut self, session: Session) -> (String, Session, bool) {
        (format!("exchange-{}", self.streams + 1), session, false)
    }

    fn connect(&mut self, name: String, reader: StreamReader, transcript: &mut Transcript) {
        self.streams += 1;
        let number = self.streams;
        transcript.line("<", &format!("200 text/event-stream, stream {number}"));
        self.readers.push((number, name, reader));
    }

    /// The client is gone that reads a stream.
    fn close(&mut self, number: u32, transcript: &mut Transcript) {
        let Some(at) = self.readers.iter().position(|(other, ..)| *other == number) else {
            return;
        };
        transcript.line(&format!(">{number}"), "closed");
        let (_, name, reader) = self.readers.remove(at);
        if name.starts_with("exchange") {
            self.sessions.remove(&name);
        } else if let Some(session) = self.sessions.get_mut(&name) {
            session.exits.streams.detach(&reader);
        }
    }

    /// Reads all streams as far as they are.
    fn read(&mut self, transcript: &mut Transcript) {
        let Self {
            readers, sessions, ..
        } = self;
        readers.retain(|(number, name, reader)| {
            let mark = format!("<{number}");
            let mut out = Vec::new();
            let ended = match sessions.get_mut(name) {
                None => true,
                Some(session) => loop {
                    match session.exits.streams.read(reader, &mut out, 64) {
                        StreamRead::More => {}
                        StreamRead::Pending => break false,
                        StreamRead::End => break true,
                    }
                },
            };
            lines(transcript, &mark, &out);
            if ended {
                transcript.line(&mark, "end");
                if name.starts_with("exchange") {
                    sessions.remove(name);
                }
            }
            !ended
        });
    }
}

impl Session {
    fn new(host: Host, delivery: Delivery) -> Self {
        Self {
            host,
            app: App::default(),
            exits: Exits {
                streams: Streams::new(delivery, StreamLimits::default()),
                posted: Channel::PIPE,
                status: None,
                question: None,
            },
        }
    }

    /// Takes in a body.
    fn take(
        &mut self,
        now: Instant,
        post: &Post<'_>,
        body: &str,
        depth: u8,
        transcript: &mut Transcript,
    ) -> Answer {
        let reader = self.exits.streams.open().expect("there is room");
        let channel = reader.channel();
        (self.exits.status, self.exits.posted) = (None, channel);
        let source = Source::post(channel, post);
        let mut nothing = Some(202);
        for incoming in Messages::new(body.as_bytes(), depth) {
            self.flush(now);
            let inside = matches!(incoming, Incoming::Message(_));
            let answered = matches!(incoming, Incoming::Message(Message::Response(_)));
            let action = self.host.handle(now, &source, incoming);
            match action.http_status() {
                Some(status) if inside => nothing = nothing.map(|_| status),
                Some(_) => {}
                None => nothing = None,
            }
            match action {
                Action::Event(event) => {
                    self.flush(now);
                    if let (Event::Answer { token, .. }, true) = (&event, answered) {
                        self.exits.streams.answered(*token);
                    }
                    self.app.on(&mut self.host, &event, &mut self.exits);
                }
                Action::Reply(reply) => {
                    let told = self.host.event_after_reply(&reply);
                    let mut reply = Some(reply);
                    let written = self.exits.put(&mut self.host, |host, out| {
                        let reply = reply.take().expect("there is room");
                        host.reply(now, reply, out).map_err(SendError::from)
                    });
                    let _ = written.expect("there is room");
                    if let Some(event) = told {
                        self.app.on(&mut self.host, &event, &mut self.exits);
                    }
                }
                Action::Done => {}
                Action::Ignore(why) => {
                    transcript.line("~", &ignored(why));
                }
            }
            self.app.write_down(transcript);
        }
        self.flush(now);
        self.app.write_down(transcript);
        if let Some(status) = nothing {
            self.exits.streams.detach(&reader);
            return Answer::Status(status);
        }
        if let Some(body) = self.exits.streams.single(&reader) {
            return Answer::Json(self.exits.status.unwrap_or(200), body);
        }
        let polled = self
            .host
            .revision()
            .is_some_and(Revision::has_event_polling);
        if polled {
            self.exits.streams.prime(channel);
        }
        Answer::Events(reader)
    }

    fn command(&mut self, now: Instant, command: (&str, &str)) {
        if command.0 == "eof" {
            self.host.hang_up();
        } else {
            let known = self
                .app
                .command(&mut self.host, now, command, &mut self.exits);
            assert!(known, "no such command: {}", command.0);
        }
        self.flush(now);
    }

    /// Writes what follows from state.
    fn flush(&mut self, now: Instant) {
        while let Some(channel) = self.host.next_channel() {
            let written = self.exits.put(&mut self.host, |host, out| {
                host.poll_transmit(now, channel, out)
                    .map_err(SendError::from)
            });
            if written.expect("there is room").is_none() {
                break;
            }
        }
        if let Some(event) = self.host.poll_event() {
            self.app.on(&mut self.host, &event, &mut self.exits);
            self.flush(now);
        }
    }
}

fn refused(refusal: Refusal, transcript: &mut Transcript) {
    let mut body = [0; 256];
    let len = refusal.write(&mut body).expect("a refusal is short");
    let status = refusal.status();
    transcript.line("<", &format!("{status} application/json"));
    transcript.bytes("<", &body[..len]);
}

/// Writes down the head, without the fields that every request has.
fn write_down(request: &Request, transcript: &mut Transcript) {
    transcript.line(">", &format!("{} {}", request.method, request.path()));
    for (name, value) in &request.fields {
        if !USUAL.contains(&(name, value)) && name != ":path" {
            transcript.line(">", &format!("  {name}: {value}"));
        }
    }
}

const USUAL: [(&str, &str); 4] = [
    ("host", "localhost"),
    ("content-type", "application/json"),
    ("accept", BOTH),
    ("accept", "text/event-stream"),
];
