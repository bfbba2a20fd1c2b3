//! Subscriptions of 2026-07-28: `subscriptions/listen` (SB-01 to SB-14).

use super::PeerError;
use super::config::ServerSettings;
use super::lists::{ListKind, Lists};
use super::subscriptions::{Owner, Subscriptions};
use crate::action::SendError;
use crate::json::{Array, EncodeError, Object, Raw, Writer};
use crate::model::{ServerFeatures, keys};
use crate::payload::Payload;
use crate::prepared_config::PreparedConfig;
use crate::revision::Revision;
use crate::rpc::{Id, Method, envelope};
use crate::slots::Key;
use crate::store::Store;

/// A standing request for notifications.
///
/// ```text
/// Held ── acknowledge ─► Open ── end ─► Result ── written ─► Cancelled ── written ─► (removed)
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Listen {
    /// The lists that it asked for and that are served.
    wanted: Lists,
    /// Those that changed since the last notification.
    changed: Lists,
    /// True if the listen asked for resources: then the acknowledgement names them.
    resources: bool,
    step: Step,
}

/// The message that a listen is owed next, before changes and after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Nothing, until the application acknowledges it (EX-13).
    Held,
    /// `notifications/subscriptions/acknowledged`, before anything else (SB-02).
    Acknowledge,
    /// `notifications/subscriptions/acknowledged`, and the end immediately after it.
    AcknowledgeLast,
    /// Changes, as they come.
    Open,
    /// Its result (SB-08).
    Result,
    /// `notifications/cancelled` after the result (CN-17).
    Cancelled,
}

/// The filter of a listen: the changes that it asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filter<'b> {
    /// The lists that are served.
    wanted: Lists,
    /// The URIs of resources, if these are served.
    uris: Option<Array<'b>>,
    /// The filter has a key that the application judges.
    is_judged: bool,
    object: Object<'b>,
}

impl<'b> Filter<'b> {
    /// Reads the filter in the parameters of a listen.
    pub(super) fn read<'s>(
        config: &PreparedConfig<impl ServerSettings<'s>>,
        params: Object<'b>,
    ) -> Result<Self, PeerError> {
        const TWICE: PeerError = PeerError::Doubled("notifications");
        let [filter] = params.find(["notifications"]).map_err(|_| TWICE)?;
        let object = filter
            .and_then(Raw::object)
            .ok_or(PeerError::Missing("notifications"))?;
        let [tools, prompts, resources, uris] = object
            .find([
                ListKind::Tools.filter(),
                ListKind::Prompts.filter(),
                ListKind::Resources.filter(),
                RESOURCES,
            ])
            .map_err(|_| TWICE)?;
        let mut wanted = Lists::NONE;
        for (kind, flag) in ListKind::ALL.into_iter().zip([tools, prompts, resources]) {
            if flag.and_then(Raw::boolean) == Some(true) && config.tells_of(kind) {
                wanted = wanted.with(kind);
            }
        }
        let mut is_judged = false;
        for key in config.texts().filters() {
            let [member] = object.find([key]).map_err(|_| TWICE)?;
            is_judged |= member.is_some();
        }
        let uris = match uris {
            Some(uris) => Some(uris.array().ok_or(PeerError::Missing(RESOURCES))?),
            None => None,
        };
        let declared = config.declared();
        Ok(Self {
            wanted,
            uris: uris.filter(|_| declared.contains(ServerFeatures::RESOURCES_SUBSCRIBE)),
            is_judged,
            object,
        })
    }

    /// The filter as it came.
    pub(super) const fn object(&self) -> Object<'b> {
        self.object
    }

    /// A listen with this filter.
    pub(super) const fn listen(&self) -> Listen {
        Listen {
            wanted: self.wanted,
            changed: Lists::NONE,
            resources: self.uris.is_some(),
            step: match self.is_judged {
                true => Step::Held,
                false => Step::Acknowledge,
            },
        }
    }

    /// Adds the resources that it asks for to the subscriptions of a listen.
    pub(super) fn subscribe<U: Store<u8>>(
        &self,
        listen: Key,
        subscriptions: &mut Subscriptions<U>,
        max_message: usize,
    ) -> Result<(), PeerError> {
        for uri in self.uris.unwrap_or_default().elements() {
            let uri = uri.string().filter(|uri| uri.is_exact());
            let uri = uri.ok_or(PeerError::Missing(RESOURCES))?;
            subscriptions
                .add(Owner::Request(listen), uri, max_message)
                .map_err(|_| PeerError::TooManySubscriptions)?;
        }
        Ok(())
    }
}

impl Listen {
    /// Returns true if nothing of the listen may be sent before the application acknowledges it.
    pub(super) fn is_held(self) -> bool {
        self.step == Step::Held
    }

    /// Returns true if the application ended the listen already, and only its last messages are
    /// still to be sent.
    pub(super) const fn is_ending(self) -> bool {
        matches!(
            self.step,
            Step::AcknowledgeLast | Step::Result | Step::Cancelled
        )
    }

    /// Returns true if its result was written.
    pub(super) fn is_answered(self) -> bool {
        self.step == Step::Cancelled
    }

    /// Checks that the application may send a notification of it.
    pub(super) const fn check_open(self) -> Result<(), SendError> {
        match self.step {
            Step::Open => Ok(()),
            Step::Held | Step::Acknowledge => Err(SendError::NotReady),
            Step::AcknowledgeLast | Step::Result | Step::Cancelled => Err(SendError::Stale),
        }
    }

    /// Its acknowledgement was written.
    pub(super) const fn open(&mut self) {
        self.step = Step::Open;
    }

    /// Lets it end, after the messages that are due before that.
    pub(super) const fn end(&mut self) {
        self.step = match self.step {
            Step::Open => Step::Result,
            Step::Held | Step::Acknowledge => Step::AcknowledgeLast,
            step => step,
        };
    }

    /// Notes the change of a list. Returns whether a message is due because of it.
    pub(super) fn note_change(&mut self, kind: ListKind) -> bool {
        let is_wanted = self.wanted.contains(kind);
        if is_wanted {
            self.changed = self.changed.with(kind);
        }
        is_wanted && !self.is_held()
    }

    /// Writes the message that is due next. Returns the listen after it, and the place of the resource whose change it tells;
    /// `None` if nothing is due.
    pub(super) fn write_next<U: Store<u8>>(
        self,
        key: Key,
        id: Id<'_>,
        revision: Revision,
        subscriptions: &Subscriptions<U>,
        w: &mut Writer<'_>,
    ) -> Option<(Self, Option<usize>)> {
        let mut next = self;
        match self.step {
            Step::Held => return None,
            Step::Acknowledge | Step::AcknowledgeLast => {
                let written = self.write_acknowledgement(key, id, revision, subscriptions, &[], w);
                debug_assert!(written.is_ok(), "no payload was written");
                next.step = match self.step {
                    Step::AcknowledgeLast => Step::Result,
                    _ => Step::Open,
                };
            }
            Step::Open | Step::Result => {
                if let Some(kind) = self.changed.first() {
                    notification(w, kind.notification(), id, |_| {});
                    next.changed = self.changed.without(kind);
                } else if let Some((place, uri)) = subscriptions.first_changed(Owner::Request(key))
                {
                    notification(w, Method::ResourcesUpdated, id, |w| {
                        w.literal(r#","uri":"#);
                        w.string(uri);
                    });
                    return Some((next, Some(place)));
                } else if self.step == Step::Open {
                    return None;
                } else {
                    write_end(w, id);
                    next.step = Step::Cancelled;
                }
            }
            Step::Cancelled => envelope::cancelled(w, |w| id.write(w), None),
        }
        Some((next, None))
    }

    /// Writes what is honoured: by the core, and of the application what it `accepted`.
    pub(super) fn write_acknowledgement<U: Store<u8>>(
        self,
        key: Key,
        id: Id<'_>,
        revision: Revision,
        subscriptions: &Subscriptions<U>,
        accepted: &[(&str, &dyn Payload)],
        w: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        let mut written = Ok(());
        notification(w, Method::SubscriptionsAcknowledged, id, |w| {
            w.literal(r#","notifications":{"#);
            let mut separator = "";
            for kind in ListKind::ALL {
                if self.wanted.contains(kind) {
                    w.literal(separator);
                    w.string(kind.filter());
                    w.literal(":true");
                    separator = ",";
                }
            }
            if self.resources {
                w.literal(separator);
                w.string(RESOURCES);
                w.literal(":[");
                let uris = subscriptions.of(Owner::Request(key));
                for (n, uri) in uris.enumerate() {
                    w.literal(if n > 0 { "," } else { "" });
                    w.string(uri);
                }
                w.literal("]");
                separator = ",";
            }
            for (key, value) in accepted {
                w.literal(separator);
                w.string(key);
                w.literal(":");
                if let Err(error) = value.write(w, revision) {
                    written = Err(error);
                }
                separator = ",";
            }
            w.literal("}");
        });
        written
    }
}

/// A notification of a listen, which names it (SB-03).
pub(super) fn notification(
    w: &mut Writer<'_>,
    method: Method<'_>,
    id: Id<'_>,
    members: impl FnOnce(&mut Writer<'_>),
) {
    let _ = envelope::notification(w, method, |w| -> Result<(), core::convert::Infallible> {
        w.literal(r#"{"_meta":"#);
        write_subscription(w, id);
        members(w);
        w.literal("}");
        Ok(())
    });
}

fn write_subscription(w: &mut Writer<'_>, id: Id<'_>) {
    w.literal("{");
    w.name(keys::SUBSCRIPTION_ID);
    id.write(w);
    w.literal("}");
}

/// The result that ends a listen (SB-08).
fn write_end(w: &mut Writer<'_>, id: Id<'_>) {
    let _ = envelope::result(w, id, |w| -> Result<(), core::convert::Infallible> {
        w.literal(r#"{"resultType":"complete","_meta":"#);
        write_subscription(w, id);
        w.literal("}");
        Ok(())
    });
}

/// Returns true for the keys of the filter of `subscriptions/listen` that the machine judges itself.
pub(super) fn is_filter_key(key: &str) -> bool {
    key == RESOURCES || ListKind::ALL.iter().any(|kind| kind.filter() == key)
}

const RESOURCES: &str = "resourceSubscriptions";
