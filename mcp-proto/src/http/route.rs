//! Selects the machine for the body of a POST.

use super::endpoint::{Endpoint, Post, Version};
use super::era::is_modern;
use super::head::SessionId;
use super::refusal::Refusal;
use crate::model::{MetaEvidence, ProtocolMeta};
use crate::revision::Revision;
#[cfg(feature = "alloc")]
use crate::rpc::OwnedMessages;
use crate::rpc::{Incoming, Message, Method};

/// The machine that a POST is handed to, by its head and the first message of its body (VR-28).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route<'h> {
    /// A new one, which is over with this exchange: the modern era, and what is no message at
    /// all and names no session. It also answers what it cannot accept.
    Modern,
    /// A new one: its session begins with the answer.
    Initialize,
    /// That of this session, or status 404 if there is no such session (SH-30).
    Session(SessionId<'h>),
    /// A new one in this revision, which is over with this exchange, because the server has no
    /// sessions (SH-32): see [`SessionSnapshot::stateless`](crate::server::SessionSnapshot::stateless).
    Stateless(Revision),
    /// None.
    Refuse(Refusal),
}

impl<T: AsRef<str>> Endpoint<'_, T> {
    /// Returns the machine that a POST is for, once its body was read: `body` is the first item of
    /// an [`Inbox`](crate::Inbox), so that of an array it is [`BatchStart`](Incoming::BatchStart).
    /// Elements of an array are not looked at: `route_body` (feature `alloc`) does that.
    ///
    /// ```
    /// # struct Head(&'static [(&'static str, &'static str)]);
    /// # impl mcp_proto::http::Head for Head {
    /// #     fn method(&self) -> &str { "POST" }
    /// #     fn path(&self) -> &str { "/mcp" }
    /// #     fn fields<'h>(&'h self, each: &mut dyn FnMut(&'h str, &'h [u8])) {
    /// #         let usual = [("host", "localhost"), ("content-type", "application/json")];
    /// #         for (key, value) in usual.iter().chain(self.0) {
    /// #             each(key, value.as_bytes());
    /// #         }
    /// #     }
    /// # }
    /// use mcp_proto::http::{Endpoint, Opening, Refusal, Route};
    /// use mcp_proto::rpc::{Incoming, Message};
    ///
    /// let endpoint = Endpoint::default();
    /// let list = Message::parse(br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, 8);
    /// let route = |head: &Head| match endpoint.open(head) {
    ///     Ok(Opening::Post(post)) => match endpoint.route(&post, &Incoming::Message(list)) {
    ///         Route::Session(id) => format!("session {}", id.as_str()),
    ///         other => format!("{other:?}"),
    ///     },
    ///     other => panic!("{other:?}"),
    /// };
    /// assert_eq!(route(&Head(&[("mcp-session-id", "s1")])), "session s1");
    /// assert_eq!(route(&Head(&[("mcp-protocol-version", "2026-07-28")])), "Modern");
    /// assert_eq!(route(&Head(&[])), "Refuse(SessionMissing)");
    /// ```
    pub fn route<'h>(&self, post: &Post<'h>, body: &Incoming<'_>) -> Route<'h> {
        let asked = match body {
            Incoming::Message(Message::Request(request)) => Some(request.method),
            _ => None,
        };
        // It is read only if the head does not decide.
        let meta = || {
            let members = match body {
                Incoming::Message(Message::Request(request)) => request.members_of_meta(),
                Incoming::Message(Message::Notification(told)) => {
                    let meta = told.params.and_then(ProtocolMeta::of);
                    meta.map(ProtocolMeta::members)
                }
                _ => None,
            };
            members.map(MetaEvidence::read).unwrap_or_default()
        };
        let has_sessions = self.revisions.has_legacy();
        if !has_sessions || is_modern(self.revisions, Some(post), asked, meta) {
            return Route::Modern;
        }
        let session = post.session.filter(|_| self.sessions);
        if matches!(body, Incoming::Message(Message::Invalid(_))) {
            // It may be meant for a question of the session's, which ends with it (JR-32).
            let session = session.and_then(SessionId::new);
            return session.map_or(Route::Modern, Route::Session);
        }
        let version = match post.version {
            Version::Absent => Revision::WITHOUT_HEADER,
            Version::Known(revision) if self.revisions.contains(revision) => revision,
            // SH-33
            Version::Known(_) | Version::Unknown(_) => return Route::Refuse(Refusal::Version),
        };
        match session {
            // It continues in the negotiated revision, whatever its header says.
            Some(id) => {
                SessionId::new(id).map_or(Route::Refuse(Refusal::SessionMalformed), Route::Session)
            }
            None if asked == Some(Method::Initialize) => Route::Initialize,
            // SH-29
            None if self.sessions => Route::Refuse(Refusal::SessionMissing),
            None if self.revisions.contains(version) => Route::Stateless(version),
            None => Route::Refuse(Refusal::Version),
        }
    }

    /// Selects the machine for a POST by its whole body, as [`route`](Self::route) does by the first message. An array of
    /// responses and of something else is refused (JR-55).
    #[cfg(feature = "alloc")]
    pub fn route_body<'h, B: AsRef<[u8]>>(
        &self,
        post: &Post<'h>,
        body: &OwnedMessages<B>,
    ) -> Route<'h> {
        if post.is_modern() {
            return Route::Modern;
        }
        let Some(first) = body.first() else {
            return Route::Modern;
        };
        match self.route(post, &first) {
            Route::Session(_) | Route::Stateless(_)
                if matches!(first, Incoming::BatchStart) && is_mixed(body) =>
            {
                Route::Refuse(Refusal::MixedArray)
            }
            route => route,
        }
    }
}

#[cfg(feature = "alloc")]
fn is_mixed<B: AsRef<[u8]>>(array: &OwnedMessages<B>) -> bool {
    let (mut responses, mut others) = (false, false);
    for incoming in array.messages() {
        match incoming {
            Incoming::Message(Message::Response(_)) => responses = true,
            Incoming::Message(Message::Request(_) | Message::Notification(_)) => others = true,
            _ => {}
        }
    }
    responses && others
}
