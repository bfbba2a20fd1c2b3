//! One request and its response.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::ServerId;
use super::body::OwnedPost;
use super::response::{Response, ResponseHead};
use super::streams::StreamReader;
use crate::time::Instant;

/// A request and its response, as far as both have come.
pub(super) struct Exchange {
    pub(super) state: State,
    /// The head of the response, until it is taken.
    pub(super) head: Option<ResponseHead>,
    /// Who sent the request.
    pub(super) principal: Option<Box<str>>,
    /// The origin whose page may read the response.
    origin: Option<Box<[u8]>>,
    /// Whether a part of the request may still be on its way.
    incomplete: bool,
    /// Whether it is among those that have something to write.
    pub(super) queued: bool,
    /// When a comment is due if nothing else is written, or the body is late.
    pub(super) due: Option<Instant>,
}

pub(super) enum State {
    /// The body is arriving.
    Receiving { post: OwnedPost, text: Vec<u8> },
    /// The machine has not seen all messages of the body.
    Handling {
        machine: ServerId,
        reader: StreamReader,
    },
    /// The first message decides what the response is.
    Waiting {
        machine: ServerId,
        reader: StreamReader,
    },
    /// An event stream is read.
    Events {
        machine: ServerId,
        reader: StreamReader,
    },
    /// The whole body is there; so much of it was read.
    Whole { body: Vec<u8>, read: usize },
}

impl Exchange {
    /// `incomplete` says whether a body follows the head.
    pub(super) const fn new(
        origin: Option<Box<[u8]>>,
        principal: Option<Box<str>>,
        incomplete: bool,
    ) -> Self {
        Self {
            state: State::Whole {
                body: Vec::new(),
                read: 0,
            },
            head: None,
            principal,
            origin,
            incomplete,
            queued: false,
            due: None,
        }
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
        if !matches!(self.state, State::Receiving { .. }) {
            return None;
        }
        self.incomplete = false;
        match self.replace_state() {
            State::Receiving { post, text } => Some((post, text)),
            _ => None,
        }
    }

    /// Answers with all that there is to say.
    pub(super) fn respond(&mut self, (head, body): Response) {
        self.state = State::Whole { body, read: 0 };
        self.begin(head);
    }

    /// Answers with the events of a stream.
    pub(super) fn respond_with_events(&mut self, machine: ServerId, reader: StreamReader) {
        self.state = State::Events { machine, reader };
        self.begin(ResponseHead::events());
    }

    /// The machine and the stream that the response comes from, taken out of it.
    pub(super) fn take_reader(&mut self) -> Option<(ServerId, StreamReader)> {
        match self.replace_state() {
            State::Handling { machine, reader }
            | State::Waiting { machine, reader }
            | State::Events { machine, reader } => Some((machine, reader)),
            State::Receiving { .. } | State::Whole { .. } => None,
        }
    }

    fn replace_state(&mut self) -> State {
        let nothing = State::Whole {
            body: Vec::new(),
            read: 0,
        };
        core::mem::replace(&mut self.state, nothing)
    }

    fn begin(&mut self, mut head: ResponseHead) {
        head.set_origin(self.origin.take());
        head.close |= self.incomplete;
        self.head = Some(head);
    }
}
