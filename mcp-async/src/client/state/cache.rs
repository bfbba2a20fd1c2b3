//! A cache of lists and resources.

use core::time::Duration;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use mcp_proto::Instant;
use mcp_proto::json::{Raw, RawBuf};
use mcp_proto::rpc::Method;

use super::ask::Ask;
use super::subscriptions::is_part;

/// Results by what was asked (CH-04). It belongs to one client, and so to one principal:
/// whether the server calls a result private or public changes nothing (CH-05, CH-13).
#[derive(Debug, Default)]
pub(in crate::client) struct Cache {
    bounds: CacheBounds,
    kinds: [KindCache; 5],
    bytes: usize,
}

/// The most that a cache keeps.
#[derive(Clone, Copy, Debug)]
pub(in crate::client) struct CacheBounds {
    /// Results; a server with more pages than this is not read again and again.
    pub(in crate::client) results: usize,
    /// Bytes of results, with those of their keys.
    pub(in crate::client) bytes: usize,
    /// The time for which a result counts as fresh: a client that forgets too much only asks again.
    pub(in crate::client) time: Duration,
}

impl Default for CacheBounds {
    fn default() -> Self {
        Self {
            results: 512,
            // As much as half of the largest single message.
            bytes: 8 << 20,
            time: Duration::from_secs(24 * 60 * 60),
        }
    }
}

/// Results of one kind.
#[derive(Debug, Default)]
struct KindCache {
    /// By the URI, or by the cursor as it is written; the first page has none.
    entries: HashMap<String, Entry>,
    /// Number of times that a result of this kind became stale.
    epoch: u64,
}

#[derive(Debug)]
struct Entry {
    result: Arc<RawBuf>,
    /// Bytes, with those of its key.
    size: usize,
    /// Fresh before this moment.
    until: Instant,
}

/// Kinds of results that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::client) enum Kind {
    Tools = 0,
    Prompts = 1,
    Resources = 2,
    Templates = 3,
    Read = 4,
}

/// A result that is under way may be kept if nothing of its kind becomes stale meanwhile: it
/// may have been made before the change.
#[derive(Clone, Copy, Debug)]
pub(in crate::client) struct Ticket {
    kind: Kind,
    epoch: u64,
}

impl Kind {
    /// Of a request whose result a server may allow to be kept (CH-01).
    pub(in crate::client) const fn of(ask: &Ask<'_>) -> Option<Self> {
        // A list with parameters is another one.
        if let Ask::List {
            params: Some(_), ..
        } = ask
        {
            return None;
        }
        match ask.method() {
            Method::ToolsList => Some(Self::Tools),
            Method::PromptsList => Some(Self::Prompts),
            Method::ResourcesList => Some(Self::Resources),
            Method::ResourcesTemplatesList => Some(Self::Templates),
            Method::ResourcesRead => Some(Self::Read),
            _ => None,
        }
    }

    pub(in crate::client) fn key<'k>(self, ask: &'k Ask<'_>) -> Cow<'k, str> {
        match ask {
            Ask::ReadResource { uri } => Cow::Borrowed(uri),
            Ask::List {
                cursor: Some(cursor),
                ..
            } => {
                let written = RawBuf::encode(cursor).unwrap_or_default();
                Cow::Owned(written.as_raw().as_str().to_owned())
            }
            _ => Cow::Borrowed(""),
        }
    }
}

impl Cache {
    pub(in crate::client) fn new(bounds: CacheBounds) -> Self {
        Self {
            bounds,
            ..Self::default()
        }
    }

    pub(in crate::client) fn fresh(
        &mut self,
        kind: Kind,
        key: &str,
        now: Instant,
    ) -> Option<Arc<RawBuf>> {
        let entry = self.kind_cache(kind)?.entries.get(key)?;
        if now < entry.until {
            return Some(Arc::clone(&entry.result));
        }
        self.remove(kind, key);
        None
    }

    pub(in crate::client) fn ticket(&self, kind: Kind) -> Ticket {
        let epoch = self
            .kinds
            .get(kind as usize)
            .map_or(0, |kind_cache| kind_cache.epoch);
        Ticket { kind, epoch }
    }

    pub(in crate::client) fn keep(
        &mut self,
        ticket: Ticket,
        ask: &Ask<'_>,
        result: Raw<'_>,
        now: Instant,
    ) {
        let Ticket { kind, epoch } = ticket;
        let Some(lifetime) = lifetime(result) else {
            return;
        };
        let key = kind.key(ask);
        // A cursor is as long as the server likes.
        let size = result.as_bytes().len() + key.len();
        if self
            .kind_cache(kind)
            .is_none_or(|kind_cache| kind_cache.epoch != epoch)
            || size > self.bounds.bytes / 4
        {
            return;
        }
        self.remove(kind, &key);
        while self.bytes.saturating_add(size) > self.bounds.bytes
            || self.len() >= self.bounds.results
        {
            if !self.remove_first(now) {
                return;
            }
        }
        let entry = Entry {
            result: Arc::new(RawBuf::from(result)),
            size,
            until: now + lifetime.min(self.bounds.time),
        };
        self.bytes += size;
        if let Some(kind_cache) = self.kind_cache(kind) {
            kind_cache.entries.insert(key.into_owned(), entry);
        }
    }

    /// Forgets the results of a kind; of resources those that a change of one concerns: itself,
    /// what it is a part of, and its own parts (RS-10).
    pub(in crate::client) fn stale(&mut self, kind: Kind, uri: Option<&str>) {
        let Some(kind_cache) = self.kinds.get_mut(kind as usize) else {
            return;
        };
        kind_cache.epoch += 1;
        kind_cache.entries.retain(|key, entry| {
            let stays = uri.is_some_and(|uri| !is_part(key, uri) && !is_part(uri, key));
            if !stays {
                self.bytes -= entry.size;
            }
            stays
        });
    }

    pub(in crate::client) fn clear(&mut self) {
        for kind_cache in &mut self.kinds {
            kind_cache.entries.clear();
            kind_cache.epoch += 1;
        }
        self.bytes = 0;
    }

    fn kind_cache(&mut self, kind: Kind) -> Option<&mut KindCache> {
        self.kinds.get_mut(kind as usize)
    }

    fn len(&self) -> usize {
        self.kinds
            .iter()
            .map(|kind_cache| kind_cache.entries.len())
            .sum()
    }

    fn remove(&mut self, kind: Kind, key: &str) {
        let removed = self
            .kind_cache(kind)
            .and_then(|kind_cache| kind_cache.entries.remove(key));
        if let Some(entry) = removed {
            self.bytes -= entry.size;
        }
    }

    /// Makes room: everything that is stale goes, or else what will be first.
    fn remove_first(&mut self, now: Instant) -> bool {
        let entries = || {
            self.kinds
                .iter()
                .flat_map(|kind_cache| kind_cache.entries.values())
        };
        let Some(first) = entries().map(|entry| entry.until).min() else {
            return false;
        };
        let limit = first.max(now);
        for kind_cache in &mut self.kinds {
            kind_cache.entries.retain(|_, entry| {
                let stays = entry.until > limit;
                if !stays {
                    self.bytes -= entry.size;
                }
                stays
            });
        }
        true
    }
}

/// Returns the time for which a result is fresh (CH-03); `None` if the result states no `ttlMs`, or
/// zero.
fn lifetime(result: Raw<'_>) -> Option<Duration> {
    let [lifetime] = result.object()?.find(["ttlMs"]).ok()?;
    let milliseconds = lifetime?.number()?.to_u64()?;
    (milliseconds > 0).then(|| Duration::from_millis(milliseconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(cache: &mut Cache, uri: &str, json: &str, now: u64) {
        let ask = Ask::ReadResource { uri };
        let ticket = cache.ticket(Kind::Read);
        let result = Raw::parse(json.as_bytes(), 8).unwrap();
        cache.keep(ticket, &ask, result, Instant::from_millis(now));
    }

    fn fresh(cache: &mut Cache, uri: &str, now: u64) -> bool {
        let now = Instant::from_millis(now);
        cache.fresh(Kind::Read, uri, now).is_some()
    }

    #[test]
    fn a_result_is_fresh_for_as_long_as_it_says() {
        let check = |json: &str, until: Option<u64>| {
            let mut cache = Cache::default();
            keep(&mut cache, "a", json, 1_000);
            assert!(!fresh(&mut cache, "b", 1_000), "{json}");
            assert_eq!(fresh(&mut cache, "a", 1_000), until.is_some(), "{json}");
            if let Some(until) = until {
                assert!(fresh(&mut cache, "a", until - 1), "{json}");
                assert!(!fresh(&mut cache, "a", until), "{json}");
                assert!(!fresh(&mut cache, "a", 1_000), "forgotten: {json}");
            }
        };
        check(r#"{"ttlMs":500}"#, Some(1_500));
        check(r#"{"ttlMs":500,"cacheScope":"private"}"#, Some(1_500));
        check(r#"{"ttlMs":0}"#, None);
        check(r#"{"ttlMs":-1}"#, None);
        check(r#"{"ttlMs":"500"}"#, None);
        check(r#"{"ttlMs":5,"ttlMs":5}"#, None);
        check("{}", None);
        check("[]", None);
        let day = 24 * 60 * 60 * 1_000;
        check(r#"{"ttlMs":99999999999999}"#, Some(1_000 + day));
    }

    #[test]
    fn what_was_under_way_during_a_change_is_not_kept() {
        let mut cache = Cache::default();
        let ticket = cache.ticket(Kind::Read);
        cache.stale(Kind::Read, Some("other"));
        let result = Raw::parse(br#"{"ttlMs":500}"#, 8).unwrap();
        cache.keep(
            ticket,
            &Ask::ReadResource { uri: "a" },
            result,
            Instant::ZERO,
        );
        assert!(!fresh(&mut cache, "a", 0));
    }

    #[test]
    fn what_is_forgotten_frees_its_bytes() {
        let mut cache = Cache::default();
        keep(&mut cache, "a", r#"{"ttlMs":500}"#, 0);
        keep(&mut cache, "a", r#"{"ttlMs":500}"#, 0);
        keep(&mut cache, "b", r#"{"ttlMs":900}"#, 0);
        assert_eq!(cache.bytes, 28);
        cache.stale(Kind::Read, Some("a"));
        assert_eq!(cache.bytes, 14);
        cache.stale(Kind::Read, None);
        assert_eq!((cache.bytes, cache.len()), (0, 0));
    }

    #[test]
    fn a_change_concerns_the_whole_and_its_parts() {
        let mut cache = Cache::default();
        for uri in ["f:/a", "f:/a/b", "f:/a/b/c", "f:/a/d", "f:/ab"] {
            keep(&mut cache, uri, r#"{"ttlMs":500}"#, 0);
        }
        cache.stale(Kind::Read, Some("f:/a/b"));
        let mut check = |uri, expected| assert_eq!(fresh(&mut cache, uri, 0), expected, "{uri}");
        check("f:/a", false);
        check("f:/a/b", false);
        check("f:/a/b/c", false);
        check("f:/a/d", true);
        check("f:/ab", true);
    }

    #[test]
    fn it_is_bounded() {
        let bounds = CacheBounds {
            results: 20,
            bytes: 8_000,
            time: Duration::from_secs(5),
        };
        let mut cache = Cache::new(bounds);
        for n in 0..2 * bounds.results {
            let json = format!(r#"{{"ttlMs":{}}}"#, n + 1);
            keep(&mut cache, &n.to_string(), &json, 0);
        }
        assert!(cache.len() <= bounds.results);
        assert!(fresh(&mut cache, &(2 * bounds.results - 1).to_string(), 0));
        let text = "x".repeat(bounds.bytes / 8);
        for n in 0..20 {
            let json = format!(r#"{{"ttlMs":9000,"text":"{text}"}}"#);
            keep(&mut cache, &n.to_string(), &json, 0);
        }
        assert!(cache.bytes <= bounds.bytes);
        keep(
            &mut cache,
            &"x".repeat(bounds.bytes),
            r#"{"ttlMs":9000}"#,
            0,
        );
        assert!(cache.bytes <= bounds.bytes, "a key takes room too");
        assert!(fresh(&mut cache, "19", 4_999));
        assert!(!fresh(&mut cache, "19", 5_000), "the server allows 9 s");
    }
}
