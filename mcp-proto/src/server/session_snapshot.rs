//! The state that another process needs to continue a legacy session.

use core::fmt;
use core::marker::PhantomData;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::model::{ClientFeatures, LoggingLevel};
use crate::revision::Revision;

/// The state that a legacy session agreed on, for a store that several processes share.
///
/// Requests and questions in flight are not part of it: they end where they began. Nor are
/// [subscriptions](super::Server::subscriptions), which have no bound that a record could have.
///
/// ```
/// use mcp_proto::server::{Fixed, OverHttp, Server, ServerConfig, SessionSnapshot};
/// use mcp_proto::{Instant, Revision};
///
/// let snapshot = SessionSnapshot::stateless(Revision::V2025_03_26);
/// let text = serde_json::to_string(&snapshot)?;
/// assert_eq!(serde_json::from_str::<SessionSnapshot>(&text)?, snapshot);
///
/// let config = ServerConfig::new("demo", "1.0");
/// let storage = OverHttp(Fixed::new());
/// let mut server = Server::new(config, storage).unwrap();
/// server.resume(Instant::ZERO, &snapshot);
/// assert_eq!(server.revision(), Some(Revision::V2025_03_26));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionSnapshot {
    /// The negotiated revision.
    #[serde(serialize_with = "write_revision", deserialize_with = "read_revision")]
    pub revision: Revision,
    /// The features that the client declared.
    #[serde(serialize_with = "write_features", deserialize_with = "read_features")]
    pub features: ClientFeatures,
    /// The least severe log message that it wants; `None` until it says so.
    #[serde(serialize_with = "write_level", deserialize_with = "read_level")]
    pub log_level: Option<LoggingLevel>,
    /// True if the server may ask and notify: the client sent `notifications/initialized`, or a
    /// request that stands for it (LC-14).
    pub ready: bool,
    /// The id of the next request of the server: in a session none is used twice (JR-05).
    pub next_id: u64,
}

impl SessionSnapshot {
    /// Of one exchange that belongs to no session, in a server without any (SH-32): nothing is
    /// known of the client.
    pub const fn stateless(revision: Revision) -> Self {
        Self {
            revision,
            features: ClientFeatures::NONE,
            log_level: None,
            ready: true,
            next_id: 1,
        }
    }
}

fn write_revision<S: Serializer>(revision: &Revision, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(revision.as_str())
}

fn read_revision<'de, D: Deserializer<'de>>(d: D) -> Result<Revision, D::Error> {
    Name::<Revision>::deserialize(d).map(|name| name.0)
}

fn write_features<S: Serializer>(features: &ClientFeatures, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_u16(features.bits())
}

fn read_features<'de, D: Deserializer<'de>>(d: D) -> Result<ClientFeatures, D::Error> {
    u16::deserialize(d).map(ClientFeatures::from_bits)
}

fn write_level<S: Serializer>(level: &Option<LoggingLevel>, s: S) -> Result<S::Ok, S::Error> {
    level.map(LoggingLevel::as_str).serialize(s)
}

fn read_level<'de, D: Deserializer<'de>>(d: D) -> Result<Option<LoggingLevel>, D::Error> {
    Option::<Name<LoggingLevel>>::deserialize(d).map(|name| name.map(|name| name.0))
}

/// Something that a store keeps by its name: the types of messages are read by our own
/// deserializer only, and a store has another.
struct Name<T>(T);

trait Named: Sized {
    const WHAT: &'static str;

    fn named(name: &str) -> Option<Self>;
}

impl Named for Revision {
    const WHAT: &'static str = "the name of a legacy revision";

    fn named(name: &str) -> Option<Self> {
        Self::parse(name).filter(|revision| revision.is_legacy())
    }
}

impl Named for LoggingLevel {
    const WHAT: &'static str = "the name of a log level";

    fn named(name: &str) -> Option<Self> {
        Self::parse(name.into())
    }
}

impl<'de, T: Named> Deserialize<'de> for Name<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_str(Text(PhantomData))
    }
}

struct Text<T>(PhantomData<T>);

impl<T: Named> de::Visitor<'_> for Text<T> {
    type Value = Name<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::WHAT)
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Name<T>, E> {
        T::named(name)
            .map(Name)
            .ok_or_else(|| E::invalid_value(de::Unexpected::Str(name), &self))
    }
}
