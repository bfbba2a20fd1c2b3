//! The server: an endpoint, its sessions and their streams, and the tools that they serve.

use core::time::Duration;
use std::collections::BTreeMap;

use mcp_proto::http::{Endpoint, Head};
use mcp_proto::json::Raw;
use mcp_proto::revision::Http;
use mcp_proto::rpc::Method;
use mcp_proto::server::http::streams::Read;
use mcp_proto::server::http::{Commands, ExchangeId, HttpOptions, HttpServer, HttpStep, ServerId};
use mcp_proto::server::{Answer, AskOptions, Context, Event, ListKind, Progress, ServerConfig};
use mcp_proto::{
    InputRequired, Instant, Outcome, Question, Revision, SendError, SentToken, Token, Why,
};

use crate::http_joined::raw;

pub(crate) struct Site {
    http: HttpServer<'static>,
    /// What is taken out of here ends.
    pub(crate) sessions: BTreeMap<String, Session>,
    /// The applications of exchanges without a session.
    own: BTreeMap<ServerId, Session>,
    opened: u32,
    now: Instant,
}

/// The application of one machine.
#[derive(Default)]
pub(crate) struct Session {
    pub(crate) log: Vec<String>,
    /// Calls that are answered later.
    late: Vec<(Token, Instant)>,
    /// Questions, and the calls that wait for them.
    asked: Vec<(SentToken, Option<Token>)>,
}

/// What an HTTP request is answered with.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) content_type: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) body: Vec<u8>,
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
        let options = HttpOptions {
            // Comments are not part of the scripts.
            keep_alive: Duration::MAX,
            ..HttpOptions::default()
        };
        Self {
            http: HttpServer::new(Endpoint::default(), config, options).unwrap(),
            sessions: BTreeMap::new(),
            own: BTreeMap::new(),
            opened: 0,
            now: Instant::ZERO,
        }
    }

    pub(crate) fn session(&mut self, id: &str) -> &mut Session {
        self.sessions.get_mut(id).expect("it was opened")
    }

    pub(crate) fn request(&mut self, now: Instant, request: &Request) -> ExchangeId {
        self.now = now;
        self.end_removed();
        let exchange = self.http.open(now, request, None);
        assert_eq!(self.http.wants_body(exchange), request.method == "POST");
        // However the body is cut.
        for part in request.body.chunks(7) {
            self.http.body(exchange, part);
        }
        let opened = &mut self.opened;
        self.http.end_body(now, exchange, || {
            *opened += 1;
            format!("session-{}", *opened - 1)
        });
        self.work();
        exchange
    }

    /// The response, with all of its body if that is JSON.
    pub(crate) fn reply(&mut self, exchange: ExchangeId) -> Option<Reply> {
        let head = self.http.response(exchange)?;
        let (mut content_type, mut session) = (None, None);
        head.fields(&mut |name, value| {
            let text = String::from_utf8(value.to_vec()).unwrap();
            match name {
                "content-type" => content_type = Some(text),
                "mcp-session-id" => session = Some(text),
                _ => {}
            }
        });
        let mut body = Vec::new();
        if let Some(length) = head.length {
            let (text, ended) = self.read(exchange);
            assert!(ended && text.len() == length);
            body = text;
        }
        Some(Reply {
            status: head.status,
            content_type,
            session,
            body,
        })
    }

    /// What has come of a stream, and whether that is all of it.
    pub(crate) fn read(&mut self, stream: ExchangeId) -> (Vec<u8>, bool) {
        self.end_removed();
        let mut out = Vec::new();
        let ended = loop {
            match self.http.read(self.now, stream, &mut out, 64) {
                Read::More => {}
                Read::Pending => break false,
                Read::End => break true,
            }
        };
        self.work();
        (out, ended)
    }

    /// The connection of a reader is gone.
    pub(crate) fn hang_up(&mut self, stream: ExchangeId) {
        self.http.hang_up(self.now, stream);
        self.work();
    }

    pub(crate) fn next_timeout(&self) -> Option<Instant> {
        let sessions = self.sessions.values().chain(self.own.values());
        let late = sessions.flat_map(|session| &session.late);
        let due = late.map(|(_, due)| *due);
        due.chain(self.http.poll_timeout()).min()
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        self.now = now;
        self.end_removed();
        let sessions = self.http.sessions().map(|(_, machine)| machine);
        let machines: Vec<_> = sessions.chain(self.own.keys().copied()).collect();
        for machine in machines {
            let Some(mut commands) = self.http.commands(machine) else {
                continue;
            };
            let session = match commands.session_id() {
                Some(id) => self.sessions.get_mut(id),
                None => self.own.get_mut(&machine),
            };
            if let Some(session) = session {
                session.handle_timeout(now, &mut commands);
            }
        }
        self.work();
    }

    /// How many exchanges of the modern era are open.
    pub(crate) fn own(&self) -> usize {
        self.http.exchanges()
    }

    fn work(&mut self) {
        loop {
            match self.http.step(self.now) {
                HttpStep::Event {
                    event,
                    mut commands,
                } => {
                    let session = match commands.session_id() {
                        Some(id) => self.sessions.entry(id.into()).or_default(),
                        None => self.own.entry(commands.id()).or_default(),
                    };
                    session.on(self.now, &event, &mut commands);
                }
                HttpStep::Ready(_) | HttpStep::Handled => {}
                HttpStep::Ignored(why) => assert_ne!(why, Why::LateResponse),
                HttpStep::Idle => break,
            }
        }
        let open: BTreeMap<_, _> = self.http.sessions().collect();
        self.sessions.retain(|id, _| open.contains_key(&**id));
        for id in open.into_keys() {
            self.sessions.entry(id.into()).or_default();
        }
    }

    fn end_removed(&mut self) {
        let sessions = self.http.sessions();
        let removed: Vec<_> = sessions
            .filter(|(id, _)| !self.sessions.contains_key(*id))
            .map(|(_, machine)| machine)
            .collect();
        for machine in removed {
            self.http.end(self.now, machine);
        }
        self.work();
    }
}

impl Session {
    fn handle_timeout(&mut self, now: Instant, commands: &mut Commands<'_, '_>) {
        while let Some(at) = self.late.iter().position(|(_, due)| *due <= now) {
            let (token, _) = self.late.remove(at);
            finish(now, commands, token, "late");
        }
    }

    fn on(&mut self, now: Instant, event: &Event<'_>, commands: &mut Commands<'_, '_>) {
        match event {
            Event::Request {
                token,
                method,
                context,
                ..
            } => self.serve(now, *token, *method, context, commands),
            Event::Answer { token, answer, .. } => {
                let text = match answer {
                    Answer::Result(result) => result.as_str().to_owned(),
                    other => format!("{other:?}"),
                };
                self.log.push(format!("answer {text}"));
                let at = self.asked.iter().position(|(asked, _)| asked == token);
                if let (_, Some(call)) = self.asked.remove(at.expect("it was asked")) {
                    finish(now, commands, call, "thanks");
                }
            }
            Event::Cancelled { token, .. } => {
                self.late.retain(|(late, _)| late != token);
                self.log.push("cancelled".into());
            }
            Event::Initialized => self.log.push("initialized".into()),
            Event::Listening { .. } => commands.list_changed(ListKind::Tools),
            Event::Handshake(_) | Event::Closed => {}
            other => panic!("not in the script: {other:?}"),
        }
    }

    fn serve(
        &mut self,
        now: Instant,
        token: Token,
        method: Method<'_>,
        context: &Context<'_>,
        commands: &mut Commands<'_, '_>,
    ) {
        let tool = context.subject.map_or(String::new(), |it| it.to_string());
        self.log.push(format!("{method} {tool}"));
        match &*tool {
            "late" => self.late.push((token, now + Duration::from_secs(5))),
            "burst" => {
                for step in 1..=3 {
                    let step = Progress::new(f64::from(step));
                    commands.progress(now, token, step).unwrap();
                }
                commands.list_changed(ListKind::Tools);
                self.late.push((token, now + Duration::from_secs(1)));
            }
            "ask" if context.revision.is_modern() => {
                let given = context.input_responses.and_then(|it| it.get("name"));
                if given.is_some() {
                    return finish(now, commands, token, "thanks");
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
                let outcome = Outcome::Input(input);
                commands.respond(now, token, outcome).unwrap();
            }
            "ask" => {
                let method = Method::ElicitationCreate;
                self.ask(now, Some(token), method, ELICITATION, commands);
            }
            "roots" => {
                finish(now, commands, token, "roots");
                self.ask(now, None, Method::RootsList, "{}", commands);
            }
            _ => finish(now, commands, token, &tool),
        }
    }

    fn ask(
        &mut self,
        now: Instant,
        call: Option<Token>,
        method: Method<'_>,
        params: &str,
        commands: &mut Commands<'_, '_>,
    ) {
        let params = raw(params);
        let question = Question {
            method,
            params: &params,
        };
        let asked = commands.ask(now, call, question, AskOptions::default());
        self.asked.push((asked.unwrap(), call));
    }

    pub(crate) fn ends_with(&self, line: &str) -> bool {
        self.log.last().is_some_and(|last| last == line)
    }
}

fn finish(now: Instant, commands: &mut Commands<'_, '_>, token: Token, text: &str) {
    let result = format!(r#"{{"content":[{{"type":"text","text":"{text}"}}],"tools":[]}}"#);
    let result = Raw::parse(result.as_bytes(), 8).unwrap();
    match commands.respond(now, token, Outcome::Result(&result)) {
        // The call is over.
        Ok(()) | Err(SendError::Stale) => {}
        Err(error) => panic!("{error}"),
    }
}

/// Whether streams of this revision can be come back to.
pub(crate) fn resumes(revision: Revision) -> bool {
    revision.http() == Http::Sessions
}

const ELICITATION: &str = r#"{"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}"#;
