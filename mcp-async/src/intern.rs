//! Text that is made while a program runs and lives until it ends.
//!
//! The configurations of [`mcp_proto`]'s machines are [`Copy`] and borrow, so that firmware can
//! keep them in flash; a connection's machine borrows for `'static`. A name that comes from a
//! command line or a file has no such lifetime by itself. Here each distinct text is leaked
//! once for the whole process, however often it is asked for: a server that is made anew for
//! every connection costs no more than the first.
//!
//! What it costs is that nothing is ever given back, so intern what a program is configured
//! with (names, versions, instructions, settings) and never what a peer sends.
//!
//! ```
//! use mcp_async::intern;
//! use mcp_proto::server::ServerConfig;
//!
//! let name = format!("weather-{}", 7);
//! let config = ServerConfig {
//!     methods: intern::list(["vendor/reload"]),
//!     ..ServerConfig::new(intern::text(&name), "1.0")
//! };
//! assert_eq!(config.info.name, "weather-7");
//! ```

use core::hash::Hash;
use std::collections::HashSet;
use std::sync::{Mutex, OnceLock, PoisonError};

use mcp_proto::json::{MAX_DEPTH, Raw};

/// The same text, for as long as the program runs.
///
/// ```
/// use mcp_async::intern;
///
/// let (one, other) = (String::from("weather"), String::from("weather"));
/// assert!(core::ptr::eq(intern::text(&one), intern::text(&other)));
/// ```
pub fn text(text: &str) -> &'static str {
    static TEXTS: Pool<str> = Pool::new();
    TEXTS.find(text, || Box::from(text))
}

/// The same JSON value, for as long as the program runs: settings of a capability, say, which
/// are decoded from it.
///
/// ```
/// use mcp_async::intern;
/// use mcp_proto::json::Raw;
/// use mcp_proto::model::Settings;
///
/// let settings = br#"{"com.example/vendor":{}}"#.to_vec();
/// let settings = intern::json(Raw::parse(&settings, 8)?);
/// let settings: Settings<'static> = settings.decode(&mut [])?;
/// assert!(settings.get("com.example/vendor").is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn json(value: Raw<'_>) -> Raw<'static> {
    // What was a value before is one again.
    Raw::parse(text(value.as_str()).as_bytes(), MAX_DEPTH).unwrap_or_default()
}

/// The same names in the same order, for as long as the program runs.
///
/// ```
/// use mcp_async::intern;
///
/// let names = vec![String::from("a/b"), String::from("c/d")];
/// assert_eq!(intern::list(&names), ["a/b", "c/d"]);
/// ```
pub fn list<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> &'static [&'static str] {
    static LISTS: Pool<[&'static str]> = Pool::new();
    let names: Vec<&'static str> = names.into_iter().map(|name| text(name.as_ref())).collect();
    LISTS.find(&names, || Box::from(&*names))
}

/// Every distinct value that was ever asked for.
struct Pool<T: ?Sized + 'static>(OnceLock<Mutex<HashSet<&'static T>>>);

impl<T: ?Sized + Eq + Hash> Pool<T> {
    const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// The value that is like `wanted`, made if there is none.
    fn find(&self, wanted: &T, make: impl FnOnce() -> Box<T>) -> &'static T {
        let known = self.0.get_or_init(Mutex::default);
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(wanted) {
            return found;
        }
        let leaked: &'static T = Box::leak(make());
        known.insert(leaked);
        leaked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use allocation_counter::measure;

    #[test]
    fn a_text_is_leaked_once() {
        let long = "x".repeat(1 << 20);
        let first = text(&long);
        let measured = measure(|| {
            for _ in 0..1_000 {
                assert!(core::ptr::eq(first, text(&long)));
            }
        });
        assert_eq!(measured.count_total, 0, "{measured:?}");
    }

    #[test]
    fn a_value_stays_what_it_was() {
        let deep = "[".repeat(128) + &"]".repeat(128);
        for value in [
            "null",
            "{}",
            r#"{"a":[1e400,"\ud83d"]}"#,
            "\"\u{e9}\"",
            &deep,
        ] {
            let raw = Raw::parse(value.as_bytes(), MAX_DEPTH).unwrap();
            assert_eq!(json(raw).as_str(), value);
            assert_eq!(json(raw).has_lone_surrogate(), raw.has_lone_surrogate());
        }
    }

    #[test]
    fn lists_are_told_apart_by_their_names() {
        assert!(list::<&str>([]).is_empty());
        assert_eq!(list(["ab", "c"]), ["ab", "c"]);
        assert_eq!(list(["a", "bc"]), ["a", "bc"]);
        assert!(core::ptr::eq(
            list(["a", "bc"]),
            list([String::from("a"), String::from("bc")])
        ));
    }
}
