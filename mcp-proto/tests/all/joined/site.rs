//! The server over HTTP: an endpoint, its sessions and their streams.

use core::time::Duration;
use std::collections::BTreeMap;

use mcp_proto::http::{Endpoint, Head};
use mcp_proto::revision::Http;
use mcp_proto::server::http::streams::StreamRead;
use mcp_proto::server::http::{ExchangeId, HttpOptions, HttpServer, HttpStep, ServerId};
use mcp_proto::server::{Event, ServerConfig};
use mcp_proto::{Action, IgnoreReason, Instant, Revision};

use super::app::{Host, allow_ended};

pub(crate) struct Site {
    http: HttpServer<'static>,
    /// What is taken out of here ends.
    pub(crate) sessions: BTreeMap<String, Host>,
    /// The applications of exchanges without a session.
    own: BTreeMap<ServerId, Host>,
    opened: u32,
    now: Instant,
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

    pub(crate) fn session(&mut self, id: &str) -> &mut Host {
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
        let body = self.http.end_body(now, exchange, || {
            *opened += 1;
            format!("session-{}", *opened - 1)
        });
        if let Some(body) = body {
            for message in body.messages() {
                match self.http.receive(now, &body, message) {
                    Action::Event(event) => self.on(body.machine(), &event),
                    Action::Ignore(why) => assert_ne!(why, IgnoreReason::LateResponse),
                    Action::Done => {}
                }
            }
            self.http.finish(now, body);
        }
        self.work();
        exchange
    }

    /// The response, with all of its body if that is JSON.
    pub(crate) fn reply(&mut self, exchange: ExchangeId) -> Option<Reply> {
        let head = self.http.response(exchange)?;
        let (mut content_type, mut session) = (None, None);
        let (status, length) = (head.status, head.length);
        head.fields(|name, value| {
            let text = String::from_utf8(value.as_bytes().to_vec()).unwrap();
            match name {
                "content-type" => content_type = Some(text),
                "mcp-session-id" => session = Some(text),
                _ => {}
            }
        });
        let mut body = Vec::new();
        if let Some(length) = length {
            let (text, ended) = self.read(exchange);
            assert!(ended && text.len() == length);
            body = text;
        }
        Some(Reply {
            status,
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
                StreamRead::More => {}
                StreamRead::Pending => break false,
                StreamRead::End => break true,
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
        let due = sessions.filter_map(Host::next_timeout);
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

    fn on(&mut self, machine: ServerId, event: &Event<'_>) {
        let Some(mut commands) = self.http.commands(machine) else {
            return;
        };
        let session = match commands.session_id() {
            Some(id) => self.sessions.entry(id.into()).or_default(),
            None => self.own.entry(machine).or_default(),
        };
        allow_ended(session.on(self.now, event, &mut commands));
    }

    fn work(&mut self) {
        loop {
            match self.http.step(self.now) {
                HttpStep::Event { machine, event } => self.on(machine, &event),
                HttpStep::Ready(_) => {}
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
/// Whether streams of this revision can be come back to.
pub(crate) fn resumes(revision: Revision) -> bool {
    revision.http() == Http::Sessions
}
