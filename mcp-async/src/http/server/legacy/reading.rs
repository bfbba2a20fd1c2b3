//! A reader of the stream of a session: the body of a response.

use core::future::poll_fn;
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::Arc;

use bytes::Bytes;
use mcp_proto::Outgoing as _;
use mcp_proto::server::http::streams::{StreamRead, StreamReader, StreamResponse};

use crate::http::server::endpoint::session::Session;
use crate::http::server::exchange::KEEP_ALIVE;
use crate::http::server::messages::body::Events;
use crate::runtime::{RuntimeHandle, Sleep};

/// Holds a stream as long as it is read.
pub(in crate::http::server) struct Reading {
    session: Arc<Session>,
    reader: StreamReader,
    /// The response was no stream, so the reader is no more.
    is_over: bool,
}

impl Reading {
    pub(super) const fn new(session: Arc<Session>, reader: StreamReader) -> Self {
        Self {
            session,
            reader,
            is_over: false,
        }
    }

    /// Waits for the response to what was posted; [`StreamResponse::Nothing`] if the session is over.
    pub(super) async fn response(&mut self) -> StreamResponse {
        let response = poll_fn(|cx| {
            let response = self.session.streams(|streams| {
                let response = streams.response(&self.reader, false);
                if response == StreamResponse::Pending {
                    streams.watch(&self.reader, cx);
                }
                response
            });
            match response.unwrap_or(StreamResponse::Nothing) {
                StreamResponse::Pending => Poll::Pending,
                decided => Poll::Ready(decided),
            }
        })
        .await;
        self.is_over = response != StreamResponse::Events;
        response
    }

    /// Gives the client an id to come back with.
    pub(super) fn prime(&self) {
        self.session.streams(|streams| streams.prime(&self.reader));
    }

    /// The stream's events, behind what comes first.
    pub(super) fn events(
        self,
        runtime: &RuntimeHandle,
        keep_alive: Duration,
        first: Bytes,
    ) -> impl Events {
        ReadingEvents {
            quiet: Sleep::after(runtime, keep_alive),
            reading: self,
            keep_alive,
            first,
            ended: false,
        }
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        match self.is_over {
            true => self.session.answered(),
            false => self.session.detach(&self.reader),
        }
    }
}

struct ReadingEvents {
    reading: Reading,
    keep_alive: Duration,
    /// Done when a comment is due, if nothing else is sent before.
    quiet: Sleep,
    first: Bytes,
    ended: bool,
}

impl Events for ReadingEvents {
    fn poll_text(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if !self.first.is_empty() {
            return Poll::Ready(Some(core::mem::take(&mut self.first)));
        }
        if self.ended {
            return Poll::Ready(None);
        }
        let mut text = Vec::new();
        let Reading {
            session, reader, ..
        } = &self.reading;
        let mut has_work = false;
        let read = session.streams(|streams| {
            let was_full = !streams.has_room(reader.channel());
            let read = streams.read(reader, &mut text);
            let awaits_store = streams.is_stored() && read == StreamRead::Pending;
            let has_room = was_full && streams.has_room(reader.channel());
            has_work = awaits_store || streams.take_eased() || has_room;
            if read == StreamRead::Pending && text.is_empty() {
                streams.watch(reader, cx);
            }
            read
        });
        if has_work {
            // The session's task hands the events to the store, which has to take them first, or writes the messages
            // that wait for room on the stream.
            session.wake_task();
        }
        self.ended = read.is_none_or(|read| read == StreamRead::End);
        if !text.is_empty() {
            session.was_read();
            self.quiet.restart(self.keep_alive);
            return Poll::Ready(Some(Bytes::from(text)));
        }
        if self.ended {
            return Poll::Ready(None);
        }
        if self.quiet.poll_done(cx).is_pending() {
            return Poll::Pending;
        }
        self.quiet.restart(self.keep_alive);
        Poll::Ready(Some(Bytes::from_static(KEEP_ALIVE)))
    }
}
