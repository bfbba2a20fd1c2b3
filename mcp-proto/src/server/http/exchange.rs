//! One request and its response.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::ServerId;
use super::streams::StreamReader;
use crate::http::{
    BodyKind, FieldValue, Head, OwnedPost, PostStatus, ResponseHead, SessionId, origin_fields,
    preflight_fields,
};
use crate::time::Instant;

/// A request and its response, as far as both have come.
pub(super) struct Exchange {
    pub(super) state: State,
    /// The head of the response, until it is taken.
    head: Option<ResponseHead<'static>>,
    /// The session that the response opens.
    pub(super) session: Option<Box<str>>,
    /// The principal that sent the request.
    pub(super) principal: Option<Box<str>>,
    /// The fields for a browser.
    browser: Vec<(&'static str, Box<[u8]>)>,
    /// True if a part of the request may still be on its way.
    incomplete: bool,
    /// True if the exchange is in the queue of those that have something to write.
    pub(super) queued: bool,
    /// The time at which a comment is due if nothing else is written, or at which the body is late.
    pub(super) due: Option<Instant>,
}

pub(super) enum State {
    /// The body is arriving.
    Receiving { post: OwnedPost, text: Vec<u8> },
    /// The messages are being handled, or the first message is awaited.
    Posted {
        machine: ServerId,
        reader: StreamReader,
        status: PostStatus,
    },
    /// An event stream is read.
    Events {
        machine: ServerId,
        reader: StreamReader,
    },
    /// The whole body is there; so much of it was read.
    Whole { body: Vec<u8>, read: usize },
}

/// The head of a response: a [`ResponseHead`], with what the driver has to know of the body.
///
/// The fields that frame the body are the driver's: `Content-Length` where [`length`](Self::length) is known, otherwise
/// chunks, or the end of the connection.
#[derive(Clone, Copy, Debug)]
pub struct ExchangeHead<'h> {
    /// The status.
    pub status: u16,
    /// The length of the body; `None` for an event stream, which ends when [`read`](super::HttpServer::read) says so.
    pub length: Option<usize>,
    /// See [`ResponseHead::close`].
    pub close: bool,
    head: ResponseHead<'h>,
    browser: &'h [(&'static str, Box<[u8]>)],
}

impl<'h> ExchangeHead<'h> {
    /// Calls `each` with the name, in lower case, and the value of every field.
    pub fn fields(&self, mut each: impl FnMut(&'static str, FieldValue<'h>)) {
        self.head.fields(&mut each);
        for (name, value) in self.browser {
            each(name, FieldValue::Bytes(value));
        }
    }
}

impl Exchange {
    /// `incomplete` says whether a body follows the head.
    pub(super) const fn new(principal: Option<Box<str>>, incomplete: bool) -> Self {
        Self {
            state: State::NOTHING,
            head: None,
            session: None,
            principal,
            browser: Vec::new(),
            incomplete,
            queued: false,
            due: None,
        }
    }

    /// Lets pages of this origin read the response.
    pub(super) fn share(&mut self, origin: &[u8]) {
        let browser = &mut self.browser;
        origin_fields(origin, |name, value| {
            browser.push((name, value.as_bytes().into()));
        });
    }

    /// Allows what a browser asks for before it sends.
    pub(super) fn allow(&mut self, head: &(impl Head + ?Sized), methods: &'static str) {
        let mut fields = Vec::new();
        preflight_fields(head, methods, |name, value| {
            fields.push((name, value.as_bytes().into()));
        });
        fields.append(&mut self.browser);
        self.browser = fields;
    }

    /// Waits for the body of a POST.
    pub(super) fn receive(&mut self, post: OwnedPost) {
        self.incomplete = true;
        self.state = State::Receiving {
            post,
            text: Vec::new(),
        };
    }

    /// The body is there.
    pub(super) fn take_body(&mut self) -> Option<(OwnedPost, Vec<u8>)> {
        match core::mem::replace(&mut self.state, State::NOTHING) {
            State::Receiving { post, text } => {
                self.incomplete = false;
                Some((post, text))
            }
            other => {
                self.state = other;
                None
            }
        }
    }

    /// Answers with all that there is to say.
    pub(super) fn respond(&mut self, head: ResponseHead<'static>, body: Vec<u8>) {
        self.state = State::Whole { body, read: 0 };
        self.begin(head);
    }

    /// Answers with the events of a stream.
    pub(super) fn respond_with_events(&mut self, machine: ServerId, reader: StreamReader) {
        self.state = State::Events { machine, reader };
        self.begin(ResponseHead::of_events());
    }

    /// The machine and the stream that the response comes from, taken out of it.
    pub(super) fn take_reader(&mut self) -> Option<(ServerId, StreamReader)> {
        match core::mem::replace(&mut self.state, State::NOTHING) {
            State::Posted {
                machine, reader, ..
            }
            | State::Events { machine, reader } => Some((machine, reader)),
            State::Receiving { .. } | State::Whole { .. } => None,
        }
    }

    /// The head of the response, once.
    pub(super) fn take_head(&mut self) -> Option<ExchangeHead<'_>> {
        let head = self.head.take()?;
        let length = match (&self.state, head.content) {
            (_, BodyKind::Events) => None,
            (State::Whole { body, .. }, _) => Some(body.len()),
            _ => Some(0),
        };
        let session = self.session.as_deref();
        Some(ExchangeHead {
            status: head.status,
            length,
            close: head.close,
            head: head.opening(session.and_then(|id| SessionId::new(id.as_bytes()))),
            browser: &self.browser,
        })
    }

    fn begin(&mut self, mut head: ResponseHead<'static>) {
        head.close |= self.incomplete;
        self.head = Some(head);
    }
}

impl State {
    const NOTHING: Self = Self::Whole {
        body: Vec::new(),
        read: 0,
    };
}
