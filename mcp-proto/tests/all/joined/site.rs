//! The server over HTTP: an endpoint, its sessions and their streams.

use core::time::Duration;
use std::collections::BTreeMap;

use mcp_proto::http::Endpoint;
use mcp_proto::revision::Http;
use mcp_proto::server::http::{Commands, ExchangeId, HttpOptions, ServerId};
use mcp_proto::server::{Event, ServerConfig};
use mcp_proto::{IgnoreReason, Instant, Revision};

use super::app::{Host, allow_ended};
use crate::http::{Application, Response, Sent, Served};

pub(crate) struct Site {
    served: Served,
    hosts: Hosts,
    opened: u32,
}

/// The applications.
#[derive(Default)]
pub(crate) struct Hosts {
    /// A session that is removed here ends.
    pub(crate) sessions: BTreeMap<String, Host>,
    /// Those of exchanges without a session.
    own: BTreeMap<ServerId, Host>,
}

impl Application for Hosts {
    fn on(&mut self, now: Instant, event: &Event<'_>, mut commands: Commands<'_, 'static>) {
        let session = match commands.session_id() {
            Some(id) => self.sessions.entry(id.into()).or_default(),
            None => self.own.entry(commands.id()).or_default(),
        };
        allow_ended(session.on(now, event, &mut commands));
    }

    fn ignored(&mut self, why: IgnoreReason) {
        assert_ne!(why, IgnoreReason::LateResponse);
    }
}

/// A response with all of its body, if that is JSON.
pub(crate) struct Reply {
    pub(crate) head: Response,
    pub(crate) body: Vec<u8>,
}

impl Site {
    pub(crate) fn new(config: ServerConfig<'static>) -> Self {
        let options = HttpOptions {
            // Comments are not part of the scripts.
            keep_alive: Duration::MAX,
            ..HttpOptions::default()
        };
        Self {
            served: Served::new(Endpoint::default(), config, options),
            hosts: Hosts::default(),
            opened: 0,
        }
    }

    /// The sessions that are open. A session that is removed here ends.
    pub(crate) fn sessions(&mut self) -> &mut BTreeMap<String, Host> {
        &mut self.hosts.sessions
    }

    pub(crate) fn session(&mut self, id: &str) -> &mut Host {
        self.hosts.sessions.get_mut(id).expect("it was opened")
    }

    pub(crate) fn request(&mut self, now: Instant, head: &Sent, body: &[u8]) -> ExchangeId {
        self.served.now = now;
        self.end_removed();
        let opened = &mut self.opened;
        let sent = self.served.request(&mut self.hosts, head, body, || {
            *opened += 1;
            format!("session-{}", *opened - 1)
        });
        self.work();
        sent.0
    }

    pub(crate) fn reply(&mut self, exchange: ExchangeId) -> Option<Reply> {
        let head = self.served.response(exchange)?;
        let mut body = Vec::new();
        if let Some(length) = head.length {
            let (text, ended) = self.read(exchange);
            assert!(ended && text.len() == length);
            body = text;
        }
        Some(Reply { head, body })
    }

    /// The bytes of a stream so far, and true if it has ended.
    pub(crate) fn read(&mut self, stream: ExchangeId) -> (Vec<u8>, bool) {
        self.end_removed();
        let read = self.served.read(&mut self.hosts, stream, 64);
        self.work();
        read
    }

    /// The connection of a reader is gone.
    pub(crate) fn hang_up(&mut self, stream: ExchangeId) {
        self.served.http.hang_up(self.served.now, stream);
        self.work();
    }

    pub(crate) fn next_timeout(&self) -> Option<Instant> {
        let Hosts { sessions, own } = &self.hosts;
        let sessions = sessions.values().chain(own.values());
        let due = sessions.filter_map(Host::next_timeout);
        due.chain(self.served.http.poll_timeout()).min()
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        self.served.now = now;
        self.end_removed();
        let Self { served, hosts, .. } = self;
        let sessions = served.http.sessions().map(|(_, machine)| machine);
        let machines: Vec<_> = sessions.chain(hosts.own.keys().copied()).collect();
        for machine in machines {
            let Some(mut commands) = served.http.commands(machine) else {
                continue;
            };
            let session = match commands.session_id() {
                Some(id) => hosts.sessions.get_mut(id),
                None => hosts.own.get_mut(&machine),
            };
            if let Some(session) = session {
                session.handle_timeout(now, &mut commands);
            }
        }
        self.work();
    }

    /// How many exchanges of the modern era are open.
    pub(crate) fn own(&self) -> usize {
        self.served.http.exchanges()
    }

    fn work(&mut self) {
        let Self { served, hosts, .. } = self;
        served.work(hosts);
        let open: BTreeMap<_, _> = served.http.sessions().collect();
        hosts.sessions.retain(|id, _| open.contains_key(&**id));
        for id in open.into_keys() {
            hosts.sessions.entry(id.into()).or_default();
        }
    }

    fn end_removed(&mut self) {
        let Self { served, hosts, .. } = self;
        let sessions = served.http.sessions();
        let removed: Vec<_> = sessions
            .filter(|(id, _)| !hosts.sessions.contains_key(*id))
            .map(|(_, machine)| machine)
            .collect();
        for machine in removed {
            served.http.end(served.now, machine);
        }
        self.work();
    }
}

/// Whether streams of this revision can be come back to.
pub(crate) fn resumes(revision: Revision) -> bool {
    revision.http() == Http::Sessions
}
