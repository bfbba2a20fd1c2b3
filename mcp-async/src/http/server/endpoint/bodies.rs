//! Reads and parses the bodies of requests.

use core::cell::RefCell;

use bytes::Bytes;
use http::header::EXPECT;
use http::request::Parts;
use http_body::Body;
use mcp_proto::http::Refusal;
use mcp_proto::json::KnownMeta;
use mcp_proto::rpc::OwnedMessages;

use super::HttpEndpoint;
use crate::connection::Text;
use crate::http::server::messages::answer::{self, Answer};
use crate::http::server::messages::collect::{Broken, Collect};
use crate::shares::CallerId;

std::thread_local! {
    /// The `_meta` of the last request on the thread, which the next request of the same client repeats.
    static KNOWN_META: RefCell<KnownMeta> = const { RefCell::new(KnownMeta::NONE) };
}

impl HttpEndpoint {
    /// Reads a request's body, whole. What it asks for may be [refused](Self::refuse).
    pub(in crate::http::server) fn collect<B: Body>(
        &self,
        parts: &Parts,
        caller: Option<CallerId>,
        body: B,
    ) -> Collect<'_, B> {
        let limit = self.options.limits.body;
        let timeout = self.options.body_timeout;
        let awaits = parts.headers.contains_key(EXPECT);
        let room = self.bodies.empty(caller);
        Collect::new(body, limit, timeout, room, &self.runtime, awaits)
    }

    /// Returns the refusal of a request whose body could not be read.
    pub(in crate::http::server) fn unread(&self, broken: Broken) -> Answer {
        let refusal = match broken {
            Broken::Crowded => Refusal::Unavailable("there are too many long bodies under way"),
            Broken::TooLong => Refusal::BodyTooLong(self.options.limits.body),
            Broken::Late => Refusal::BodyLate,
            Broken::Unreadable => Refusal::BodyUnreadable,
        };
        answer::refusal(refusal, "")
    }

    /// Parses a request's body.
    pub(in crate::http::server) fn parse(&self, body: Bytes) -> OwnedMessages<Text> {
        let text = Text::new(body);
        KNOWN_META
            .with_borrow_mut(|known| OwnedMessages::parse_with_known_meta(text, self.depth, known))
    }

    /// Returns the refusal of a body that asks for more than its sender may do.
    pub(in crate::http::server) fn refuse(
        &self,
        parts: &Parts,
        caller: Option<&CallerId>,
        body: &OwnedMessages<Text>,
    ) -> Option<Answer> {
        // The first is counted already.
        let more = body.count().saturating_sub(1);
        let refused = self.count_messages(parts, caller, more);
        #[cfg(feature = "auth")]
        let refused = refused.or_else(|| self.missing_scopes(parts, body));
        refused
    }

    /// Reads a body that the answer does not need, up to a bound: where the connection is closed while the client
    /// still writes, the client may see a reset instead of the answer.
    pub(super) async fn after_body<B: Body>(
        &self,
        parts: &Parts,
        body: B,
        answer: Answer,
    ) -> Answer {
        let awaits = parts.headers.contains_key(EXPECT);
        let timeout = self.options.body_timeout;
        let room = self.bodies.empty(None);
        // It has no contents, and an end of any kind will do.
        let _ = Collect::new(body, 0, timeout, room, &self.runtime, awaits).await;
        answer
    }
}
