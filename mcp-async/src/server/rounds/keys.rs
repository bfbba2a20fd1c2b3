//! The keys that seal request states.

use core::fmt;
use core::time::Duration;
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac_sha256::HMAC;
use mcp_proto::json::Object;
use mcp_proto::rpc::Method;

use super::canonical;
use crate::random;

/// Keys for the request states of 2026-07-28, which travel through the client and come back
/// from a stranger.
///
/// A state is sealed with HMAC-SHA256 and bound to its method, its name or URI, its arguments
/// and the principal; it expires. It is **not** encrypted: the client can read what it
/// holds.
///
/// Without keys of its own a process makes random ones. They are good for a server on standard
/// streams and for a single process. In a fleet they cost every call whose next round reaches
/// another process, or the same one after a restart: it is refused with -32602, and the client
/// has to begin again. There, give every process the same key.
///
/// To rotate, move the old key to [`previous`](Self::previous): new states are sealed with the
/// current key, and states of both are accepted. Several processes need the new key as the previous one
/// first, until all of them have it: they accept only what they know.
///
/// ```
/// use core::time::Duration;
/// use mcp_async::server::StateKeys;
///
/// let (new, old) = ([7; 32], [3; 32]); // from where the fleet keeps its secrets
/// let keys = StateKeys::new(new).previous(old).lifetime(Duration::from_secs(600));
/// # let _ = keys;
/// ```
#[derive(Clone)]
pub struct StateKeys(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    /// The first seals, every one opens.
    keys: Vec<HMAC>,
    lifetime: Duration,
    clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
}

impl StateKeys {
    /// Seals with this key, 32 bytes of randomness.
    pub fn new(key: [u8; 32]) -> Self {
        Self(Arc::new(Inner {
            keys: vec![HMAC::new(key)],
            lifetime: LIFETIME,
            clock: Arc::new(SystemTime::now),
        }))
    }

    /// Seals with a random key.
    ///
    /// # Errors
    /// The operating system has no randomness to give.
    pub fn random() -> io::Result<Self> {
        random::bytes().map(Self::new)
    }

    /// Accepts what was sealed with this key, too.
    pub fn previous(mut self, key: [u8; 32]) -> Self {
        Arc::make_mut(&mut self.0).keys.push(HMAC::new(key));
        self
    }

    /// Sets the time that a client may take for one round; half an hour otherwise. A person has to
    /// read the question and find the answer in this time.
    pub fn lifetime(mut self, lifetime: Duration) -> Self {
        Arc::make_mut(&mut self.0).lifetime = lifetime;
        self
    }

    /// Goes by this clock instead of the system's, in tests for instance.
    pub fn clock(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Arc::make_mut(&mut self.0).clock = Arc::new(clock);
        self
    }

    /// Keys for the purpose that the label names, which say nothing of these.
    pub(crate) fn derive(&self, label: &[u8]) -> DerivedKeys {
        let derived = self.0.keys.iter().map(|key| {
            let mut mac = key.clone();
            mac.update(label);
            HMAC::new(mac.finalize())
        });
        DerivedKeys {
            keys: derived.collect(),
            clock: Arc::clone(&self.0.clock),
        }
    }

    /// The random keys of this process.
    pub(in crate::server) fn of_process() -> Option<Self> {
        static KEYS: OnceLock<Option<StateKeys>> = OnceLock::new();
        KEYS.get_or_init(|| Self::random().ok()).clone()
    }

    /// `body` as text that only a holder of the key can have made.
    pub(in crate::server) fn seal(&self, origin: &Origin<'_>, body: &[u8]) -> Option<String> {
        let key = self.0.keys.first()?;
        let expiry = self.now()?.saturating_add(self.0.lifetime.as_secs());
        let mut bytes = Vec::with_capacity(HEAD + body.len() + TAG);
        bytes.push(VERSION);
        bytes.extend_from_slice(&expiry.to_be_bytes());
        bytes.extend_from_slice(body);
        let tag = origin.authenticate(key, &bytes).finalize();
        bytes.extend_from_slice(&tag);
        Some(URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Returns the sealed body, if it was sealed for this very call and has not expired.
    pub(in crate::server) fn open(&self, origin: &Origin<'_>, state: &str) -> Option<Vec<u8>> {
        if state.len() > LIMIT {
            return None;
        }
        let mut bytes = URL_SAFE_NO_PAD.decode(state).ok()?;
        let (sealed, tag) = bytes.split_last_chunk()?;
        let (version, rest) = sealed.split_first()?;
        let (expiry, _) = rest.split_first_chunk()?;
        let mut keys = self.0.keys.iter();
        let genuine = keys.any(|key| origin.authenticate(key, sealed).finalize_verify(tag));
        let fresh = self.now()? < u64::from_be_bytes(*expiry);
        if !(genuine && fresh && *version == VERSION) {
            return None;
        }
        bytes.truncate(sealed.len());
        bytes.drain(..HEAD);
        Some(bytes)
    }

    /// Seconds of wall time: another process has to understand them. A clock before 1970 is none,
    /// and nothing is fresh by it.
    fn now(&self) -> Option<u64> {
        let since = (self.0.clock)().duration_since(UNIX_EPOCH);
        since.ok().map(|since| since.as_secs())
    }
}

/// The keys themselves are never shown.
impl fmt::Debug for StateKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateKeys")
            .field("count", &self.0.keys.len())
            .field("lifetime", &self.0.lifetime)
            .finish_non_exhaustive()
    }
}

/// The call that a state belongs to.
pub(in crate::server) struct Origin<'a> {
    pub(in crate::server) method: Method<'a>,
    /// The name or URI is among them.
    pub(in crate::server) params: Object<'a>,
    pub(in crate::server) principal: Option<&'a str>,
}

impl Origin<'_> {
    fn authenticate(&self, key: &HMAC, sealed: &[u8]) -> HMAC {
        let mut mac = key.clone();
        mac.update(PURPOSE);
        let feed = &mut |part: &[u8]| mac.update(part);
        let method = self.method.name().to_cow();
        canonical::head(b'm', method.len(), feed);
        feed(method.as_bytes());
        match self.principal {
            Some(principal) => {
                canonical::head(b'p', principal.len(), feed);
                feed(principal.as_bytes());
            }
            None => feed(b"-"),
        }
        canonical::params(self.params, feed);
        canonical::head(b's', sealed.len(), feed);
        feed(sealed);
        mac
    }
}

/// Keys for one purpose, derived from the [`StateKeys`](super::StateKeys) of a server: the processes that
/// share those recognize what another one has written.
#[derive(Clone)]
pub(crate) struct DerivedKeys {
    /// The first signs, every one verifies.
    keys: Vec<HMAC>,
    clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
}

impl DerivedKeys {
    /// Signs a message: it travels with its MAC behind it, both in base64url.
    pub(crate) fn sign(&self, mut message: Vec<u8>) -> String {
        if let Some(key) = self.keys.first() {
            message.extend_from_slice(&authenticate(key, &message).finalize());
        }
        let mut signed = String::with_capacity((message.len() * 4).div_ceil(3));
        URL_SAFE_NO_PAD.encode_string(message, &mut signed);
        signed
    }

    /// The message, if one of the keys signed it.
    pub(crate) fn verify(&self, signed: &[u8]) -> Option<Vec<u8>> {
        let mut message = Vec::with_capacity(signed.len());
        URL_SAFE_NO_PAD.decode_vec(signed, &mut message).ok()?;
        let (text, tag) = message.split_last_chunk()?;
        let mut keys = self.keys.iter();
        let genuine = keys.any(|key| authenticate(key, text).finalize_verify(tag));
        message.truncate(message.len() - TAG);
        genuine.then_some(message)
    }

    /// Returns a key for what this text names, of each key in turn.
    #[cfg(all(feature = "auth", feature = "http-server", feature = "http-client"))]
    pub(crate) fn derive(&self, label: Vec<u8>) -> impl Iterator<Item = [u8; 32]> {
        let keys = self.keys.iter();
        keys.map(move |key| authenticate(key, &label).finalize())
    }

    /// Seconds of wall time since 1970: other processes have to understand them. 0 for a clock before that.
    pub(crate) fn now(&self) -> u64 {
        let since = (self.clock)().duration_since(UNIX_EPOCH);
        since.map_or(0, |since| since.as_secs())
    }
}

fn authenticate(key: &HMAC, message: &[u8]) -> HMAC {
    let mut mac = key.clone();
    mac.update(message);
    mac
}

/// The length of the longest sealed state, in characters.
pub(in crate::server) const LIMIT: usize = 64 << 10;

/// So that the same key may serve another purpose.
const PURPOSE: &[u8] = b"mcp request state\0";
const VERSION: u8 = 1;
/// Version and expiry.
const HEAD: usize = 1 + 8;
/// The length of a MAC.
const TAG: usize = 32;
const LIFETIME: Duration = Duration::from_secs(30 * 60);

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sealed_at: SystemTime, opened_at: SystemTime, opens: bool) {
        let at = |now| {
            StateKeys::new([1; 32])
                .lifetime(Duration::from_secs(60))
                .clock(move || now)
        };
        let origin = Origin {
            method: Method::ToolsCall,
            params: Object::default(),
            principal: None,
        };
        let state = at(sealed_at).seal(&origin, b"{}");
        let opened = state.and_then(|state| at(opened_at).open(&origin, &state));
        assert_eq!(opened.is_some(), opens, "{sealed_at:?}, {opened_at:?}");
    }

    #[test]
    fn a_clock_that_is_wrong_makes_nothing_fresh() {
        let noon = UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let stopped = UNIX_EPOCH - Duration::from_secs(1);
        check(noon, noon + Duration::from_secs(59), true);
        check(noon, noon + Duration::from_secs(60), false);
        check(noon, stopped, false);
        check(stopped, noon, false);
    }
}
