//! The server: an endpoint, its sessions and their streams, and the tools that they serve.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use mcp_proto::http::{Endpoint, Head, Opening, Post, Refusal, Route};
use mcp_proto::json::Raw;
use mcp_proto::revision::Http;
use mcp_proto::rpc::{Incoming, Message, Messages, Method};
use mcp_proto::server::http::streams::{Delivery, Read, Reader, StreamLimits, Streams};
use mcp_proto::server::{
    Answer, AskOptions, Context, Event, Growing, ListKind, Progress, Server, ServerConfig,
};
use mcp_proto::{
    Action, Channel, InputRequired, Instant, Machine, Outcome, Question, Revision, SendError,
    SentToken, Source, Token, Transmit, Written,
};

use crate::http_joined::raw;

pub(crate) struct Site {
    pub(crate) endpoint: Endpoint<'static>,
    config: ServerConfig<'static>,
    pub(crate) sessions: BTreeMap<String, Session>,
    opened: u32,
    /// Event streams that somebody reads.
    readers: BTreeMap<usize, Connection>,
    connections: usize,
}

/// One machine, its streams and its application.
pub(crate) struct Session {
    machine: Server<'static, Growing>,
    pub(crate) streams: Streams,
    pub(crate) log: Vec<String>,
    /// Calls that are answered later.
    late: Vec<(Token, Instant)>,
    /// Questions, and the calls that wait for them.
    asked: Vec<(SentToken, Option<Token>)>,
    /// The first status that was said on the channel of the last POST.
    status: Option<u16>,
    posted: Channel,
}

struct Connection {
    whose: Whose,
    reader: Reader,
}

enum Whose {
    /// A session's: the reader may go, and the session stays.
    Session(String),
    /// Of one exchange of the modern era, which is over with its reader.
    Own(Box<Session>),
}

/// What an HTTP request is answered with.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) content_type: Option<&'static str>,
    pub(crate) session: Option<String>,
    pub(crate) body: Vec<u8>,
    /// The event stream to read in place of a body.
    pub(crate) stream: Option<usize>,
}

impl Reply {
    fn empty(status: u16) -> Self {
        Self {
            status,
            content_type: None,
            session: None,
            body: Vec::new(),
            stream: None,
        }
    }

    fn json(status: u16, body: Vec<u8>) -> Self {
        Self {
            content_type: Some("application/json"),
            body,
            ..Self::empty(status)
        }
    }

    fn events(stream: usize) -> Self {
        Self {
            content_type: Some("text/event-stream; charset=utf-8"),
            stream: Some(stream),
            ..Self::empty(200)
        }
    }

    fn refused(refusal: Refusal) -> Self {
        let mut body = vec![0; 256];
        let len = refusal.write(&mut body).unwrap();
        body.truncate(len);
        Self::json(refusal.status(), body)
    }
}

/// A request as it was sent.
pub(crate) struct Request {
    pub(crate) method: &'static str,
    pub(crate) fields: Vec<(String, Vec<u8>)>,
    pub(crate) body: Vec<u8>,
}

impl Head for Request {
    fn method(&self) -> &str {
        self.method
    }

    fn path(&self) -> &str {
        "/mcp"
    }

    fn values<'h>(&'h self, name: &str, each: &mut dyn FnMut(&'h [u8])) {
        for (key, value) in &self.fields {
            if key.eq_ignore_ascii_case(name) {
                each(value);
            }
        }
    }
}

impl Site {
    pub(crate) fn new(config: ServerConfig<'static>) -> Self {
        Self {
            endpoint: Endpoint {
                revisions: config.revisions,
                ..Endpoint::default()
            },
            config,
            sessions: BTreeMap::new(),
            opened: 0,
            readers: BTreeMap::new(),
            connections: 0,
        }
    }

    pub(crate) fn session(&mut self, id: &str) -> &mut Session {
        self.sessions.get_mut(id).expect("it was opened")
    }

    pub(crate) fn request(&mut self, now: Instant, request: &Request) -> Reply {
        match self.endpoint.open(request) {
            Ok(Opening::Post(post)) => self.post(now, &post, &request.body),
            Ok(Opening::Get(get)) => {
                let Some(session) = self.sessions.get_mut(get.session.as_str()) else {
                    return Reply::empty(404);
                };
                let reader = match get.last_event_id {
                    Some(id) => session.streams.resume(id),
                    None => Ok(session.listen()),
                };
                let whose = Whose::Session(get.session.as_str().into());
                match reader {
                    Ok(reader) => Reply::events(self.connect(whose, reader)),
                    Err(refusal) => Reply::refused(refusal),
                }
            }
            Ok(Opening::Delete(session)) => match self.sessions.remove(session.as_str()) {
                Some(_) => Reply::empty(204),
                None => Reply::empty(404),
            },
            Ok(other) => panic!("{other:?}"),
            Err(refusal) => Reply::refused(refusal),
        }
    }

    fn post(&mut self, now: Instant, post: &Post<'_>, body: &[u8]) -> Reply {
        let first = Messages::new(body, 32).next().unwrap();
        match self.endpoint.route(post, &first) {
            Route::Modern => {
                let machine = Server::new(self.config, Growing).unwrap();
                let mut own = Box::new(Session::new(machine, Delivery::Once));
                let reader = own.streams.open().unwrap();
                match own.take(now, post, &reader, body) {
                    Ok(reply) => reply,
                    Err(()) => Reply::events(self.connect(Whose::Own(own), reader)),
                }
            }
            Route::Initialize => {
                let machine = Server::new(self.config, Growing).unwrap();
                let id = format!("session-{}", self.opened);
                self.opened += 1;
                let mut session = Session::new(machine, Delivery::Resumable);
                let reader = session.streams.open().unwrap();
                let reply = session.take(now, post, &reader, body);
                self.sessions.insert(id.clone(), session);
                Reply {
                    session: Some(id),
                    ..reply.expect("a handshake is answered at once")
                }
            }
            Route::Session(id) => {
                let Some(session) = self.sessions.get_mut(id.as_str()) else {
                    return Reply::empty(404);
                };
                let reader = session.streams.open().unwrap();
                match session.take(now, post, &reader, body) {
                    Ok(reply) => reply,
                    Err(()) => {
                        let whose = Whose::Session(id.as_str().into());
                        Reply::events(self.connect(whose, reader))
                    }
                }
            }
            Route::Stateless(_) => panic!("it has sessions"),
            Route::Refuse(refusal) => Reply::refused(refusal),
        }
    }

    fn connect(&mut self, whose: Whose, reader: Reader) -> usize {
        self.connections += 1;
        self.readers
            .insert(self.connections, Connection { whose, reader });
        self.connections
    }

    /// What has come of a stream, and whether that is all of it.
    pub(crate) fn read(&mut self, stream: usize) -> (Vec<u8>, bool) {
        let mut out = Vec::new();
        let Some(Connection { whose, reader }) = self.readers.get_mut(&stream) else {
            return (out, true);
        };
        let session = match whose {
            Whose::Session(id) => self.sessions.get_mut(id.as_str()),
            Whose::Own(own) => Some(&mut **own),
        };
        let Some(session) = session else {
            return (out, true);
        };
        loop {
            match session.streams.read(reader, &mut out, 64) {
                Read::More => {}
                Read::Pending => return (out, false),
                Read::End => return (out, true),
            }
        }
    }

    /// The connection of a reader is gone.
    pub(crate) fn hang_up(&mut self, stream: usize) {
        if let Some(Connection { whose, reader }) = self.readers.remove(&stream)
            && let Whose::Session(id) = whose
            && let Some(session) = self.sessions.get_mut(&id)
        {
            session.streams.detach(&reader);
        }
    }

    pub(crate) fn next_timeout(&self) -> Option<Instant> {
        let own = self.readers.values().filter_map(|it| match &it.whose {
            Whose::Own(own) => Some(&**own),
            Whose::Session(_) => None,
        });
        let sessions = self.sessions.values().chain(own);
        sessions.filter_map(Session::next_timeout).min()
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        let own = self
            .readers
            .values_mut()
            .filter_map(|it| match &mut it.whose {
                Whose::Own(own) => Some(&mut **own),
                Whose::Session(_) => None,
            });
        for session in self.sessions.values_mut().chain(own) {
            session.handle_timeout(now);
        }
    }

    /// How many exchanges of the modern era are open.
    pub(crate) fn own(&self) -> usize {
        let own = |it: &&Connection| matches!(it.whose, Whose::Own(_));
        self.readers.values().filter(own).count()
    }
}

impl Session {
    fn new(machine: Server<'static, Growing>, delivery: Delivery) -> Self {
        Self {
            machine,
            streams: Streams::new(delivery, StreamLimits::default()),
            log: Vec::new(),
            late: Vec::new(),
            asked: Vec::new(),
            status: None,
            posted: Channel::PIPE,
        }
    }

    /// Takes in a body. `Err` if the answer is an event stream.
    fn take(
        &mut self,
        now: Instant,
        post: &Post<'_>,
        reader: &Reader,
        body: &[u8],
    ) -> Result<Reply, ()> {
        let source = Source::post(reader.channel(), post);
        (self.status, self.posted) = (None, reader.channel());
        let mut nothing = Some(202);
        for incoming in Messages::new(body, 32) {
            self.flush(now);
            let inside = matches!(incoming, Incoming::Message(_));
            let answers = matches!(incoming, Incoming::Message(Message::Response(_)));
            let action = self.machine.handle(now, &source, incoming);
            match action.http_status() {
                Some(status) if inside => nothing = nothing.map(|_| status),
                Some(_) => {}
                None => nothing = None,
            }
            match action {
                Action::Event(event) => {
                    self.flush(now);
                    self.on(now, &event);
                }
                Action::Reply(reply) => {
                    self.put(None, |machine, out| machine.reply(now, reply, out).unwrap());
                }
                Action::Ignore(why) => assert!(!answers, "a late answer: {why:?}"),
            }
        }
        self.flush(now);
        if let Some(status) = nothing {
            self.streams.detach(reader);
            return Ok(Reply::empty(status));
        }
        if let Some(body) = self.streams.single(reader) {
            return Ok(Reply::json(self.status.unwrap(), body));
        }
        if self
            .machine
            .revision()
            .is_some_and(Revision::has_event_polling)
        {
            self.streams.prime(reader.channel());
        }
        Err(())
    }

    /// A GET without `Last-Event-ID`.
    fn listen(&mut self) -> Reader {
        let reader = self.streams.listen();
        let open: BTreeSet<usize> = self.asked.iter().map(|(asked, _)| asked.index()).collect();
        self.streams.reopen(|token| open.contains(&token.index()));
        reader
    }

    fn next_timeout(&self) -> Option<Instant> {
        let late = self.late.iter().map(|(_, due)| *due);
        late.chain(self.machine.poll_timeout()).min()
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.machine.handle_timeout(now);
        while let Some(at) = self.late.iter().position(|(_, due)| *due <= now) {
            let (token, _) = self.late.remove(at);
            self.finish(now, token, "late");
        }
        self.flush(now);
    }

    /// Lets the machine write, and says whether it did.
    fn put<T: Written>(
        &mut self,
        question: Option<SentToken>,
        write: impl FnOnce(&mut Server<'static, Growing>, &mut [u8]) -> T,
    ) -> bool {
        let mut out = vec![0; 1 << 16];
        let written = write(&mut self.machine, &mut out);
        let Some(Transmit {
            channel,
            len,
            end,
            status,
            ..
        }) = written.transmit()
        else {
            return false;
        };
        if channel == self.posted && self.status.is_none() && len > 0 {
            self.status = Some(status);
        }
        self.streams.push(channel, &out[..len], question, end);
        true
    }

    fn flush(&mut self, now: Instant) {
        while let Some(channel) = self.machine.next_channel() {
            let said = self.put(None, |machine, out| {
                machine.poll_transmit(now, channel, out).unwrap()
            });
            if !said {
                break;
            }
        }
        if let Some(event) = self.machine.poll_event() {
            self.on(now, &event);
            self.flush(now);
        }
    }

    fn on(&mut self, now: Instant, event: &Event<'_>) {
        match event {
            Event::Request {
                token,
                method,
                context,
                ..
            } => self.serve(now, *token, *method, context),
            Event::Answer { token, answer, .. } => {
                let text = match answer {
                    Answer::Result(result) => result.as_str().to_owned(),
                    other => format!("{other:?}"),
                };
                self.log.push(format!("answer {text}"));
                let at = self.asked.iter().position(|(asked, _)| asked == token);
                if let (_, Some(call)) = self.asked.remove(at.expect("it was asked")) {
                    self.finish(now, call, "thanks");
                }
            }
            Event::Cancelled { token, .. } => {
                self.late.retain(|(late, _)| late != token);
                self.log.push("cancelled".into());
            }
            Event::Initialized => self.log.push("initialized".into()),
            Event::Listening { .. } => self.machine.list_changed(ListKind::Tools),
            other => panic!("not in the script: {other:?}"),
        }
    }

    fn serve(&mut self, now: Instant, token: Token, method: Method<'_>, context: &Context<'_>) {
        let tool = context.subject.map_or(String::new(), |it| it.to_string());
        self.log.push(format!("{method} {tool}"));
        match &*tool {
            "late" => self.late.push((token, now + Duration::from_secs(5))),
            "burst" => {
                for step in 1..=3 {
                    let step = Progress::new(f64::from(step));
                    self.put(None, |machine, out| {
                        machine.progress(now, token, step, out).unwrap()
                    });
                }
                self.machine.list_changed(ListKind::Tools);
                self.late.push((token, now + Duration::from_secs(1)));
            }
            "ask" if context.revision.is_modern() => {
                let given = context.input_responses.and_then(|it| it.get("name"));
                if given.is_some() {
                    return self.finish(now, token, "thanks");
                }
                let params = raw(ELICITATION);
                let question = Question {
                    method: Method::ElicitationCreate,
                    params: &params,
                };
                let input = InputRequired {
                    requests: &[("name", question)],
                    state: Some("s"),
                };
                self.put(None, |machine, out| {
                    machine
                        .respond(now, token, Outcome::Input(input), out)
                        .unwrap()
                });
            }
            "ask" => self.ask(now, Some(token), Method::ElicitationCreate, ELICITATION),
            "roots" => {
                self.finish(now, token, "roots");
                self.ask(now, None, Method::RootsList, "{}");
            }
            _ => self.finish(now, token, &tool),
        }
    }

    fn ask(&mut self, now: Instant, call: Option<Token>, method: Method<'_>, params: &str) {
        let params = raw(params);
        let question = Question {
            method,
            params: &params,
        };
        let mut out = vec![0; 1 << 16];
        let options = AskOptions::default();
        let asked = self.machine.ask(now, call, question, options, &mut out);
        let (token, transmit) = asked.unwrap();
        let message = &out[..transmit.len];
        self.streams
            .push(transmit.channel, message, Some(token), transmit.end);
        self.asked.push((token, call));
    }

    fn finish(&mut self, now: Instant, token: Token, text: &str) {
        let result = format!(r#"{{"content":[{{"type":"text","text":"{text}"}}],"tools":[]}}"#);
        let result = Raw::parse(result.as_bytes(), 8).unwrap();
        let mut out = vec![0; 1 << 16];
        let outcome = Outcome::Result(&result);
        match self.machine.respond(now, token, outcome, &mut out) {
            Ok(sent) => self.put(None, |_, place| {
                place[..sent.len].copy_from_slice(&out[..sent.len]);
                sent
            }),
            // Nobody waits any more.
            Err(SendError::Stale) => false,
            Err(error) => panic!("{error}"),
        };
    }

    pub(crate) fn ends_with(&self, line: &str) -> bool {
        self.log.last().is_some_and(|last| last == line)
    }
}

/// Whether streams of this revision can be come back to.
pub(crate) fn resumes(revision: Revision) -> bool {
    revision.http() == Http::Sessions
}

const ELICITATION: &str = r#"{"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}"#;
