//! Secrets of the command line and of requests, and texts without them.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::json::quoted;
use super::url::shown;
use mcp_tokio::http::{HttpEvent, HttpStep};

/// Texts that are not shown, not even where a server repeats them.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Arc<Mutex<Vec<Kept>>>);

/// A text that is not shown. The longest is first: no part of it is masked alone.
struct Kept {
    text: String,
    source: Source,
    /// The number of texts that were added or found again before.
    at: u64,
}

/// The origin of a secret. Servers name URLs, so secrets from URLs have a limit of their own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Header,
    Url,
}

impl Secrets {
    /// Adds what a request sends.
    pub(crate) fn note(&self, event: &HttpEvent<'_>) {
        if let HttpStep::Request { url, headers, .. } = event.step {
            self.add_url(&url.to_string());
            for (name, value) in headers {
                let is_secret = value.is_sensitive() || is_secret(name.as_str());
                // A proof is of use once.
                if is_secret && name != "dpop" {
                    self.add_header(name.as_str(), &String::from_utf8_lossy(value.as_bytes()));
                }
            }
        }
    }

    /// Adds the value of a header, and the credentials after the scheme.
    pub(crate) fn add_header(&self, name: &str, value: &str) {
        self.add(Source::Header, value);
        if ["authorization", "proxy-authorization"].contains(&&*name.to_ascii_lowercase()) {
            let credentials = value.rsplit(' ').next();
            self.add(Source::Header, credentials.unwrap_or_default());
        }
    }

    /// Adds user and password of a URL, its query and the values in that, unless the rest of the URL
    /// has the same text.
    pub(crate) fn add_url(&self, url: &str) {
        let rest = shown(url);
        let add = |text: &str| {
            if !rest.contains(text) {
                self.add(Source::Url, text);
            }
        };
        let (url, fragment) = url.split_once('#').unwrap_or((url, ""));
        let (start, query) = url.split_once('?').unwrap_or((url, ""));
        let (_, rest) = start.split_once("://").unwrap_or(("", start));
        let authority = rest.split('/').next().unwrap_or_default();
        if let Some((user, _)) = authority.rsplit_once('@') {
            add(user);
            add(user.split_once(':').unwrap_or_default().1);
        }
        add(fragment);
        add(query);
        for pair in query.split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            add(if value.is_empty() { name } else { value });
        }
    }

    /// Returns the text with dots in the place of each secret.
    pub(crate) fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut masked = Cow::Borrowed(text);
        for kept in &*self.lock() {
            if masked.contains(&kept.text) {
                masked = masked.replace(&kept.text, "...").into();
            }
        }
        masked
    }

    /// Adds a text, and what it is in JSON.
    fn add(&self, source: Source, text: &str) {
        if text.len() < SHORTEST {
            return;
        }
        let json = quoted(text);
        let json = json.as_raw().as_str();
        let json = json.get(1..json.len() - 1).unwrap_or_default();
        let mut secrets = self.lock();
        for form in [text, json, &json.replace('/', "\\/")] {
            put(&mut secrets, source, form);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds a text. When there are too many of headers, the one that was sent least recently is forgotten; of URLs, the new one.
fn put(secrets: &mut Vec<Kept>, source: Source, text: &str) {
    let next = secrets.iter().map(|kept| kept.at + 1).max();
    let at = next.unwrap_or_default();
    if let Some(kept) = secrets.iter_mut().find(|kept| kept.text == text) {
        kept.at = at;
        return;
    }
    let of_source = || secrets.iter().filter(|kept| kept.source == source);
    if of_source().count() >= MOST {
        let oldest = of_source().map(|kept| kept.at).min();
        match source {
            Source::Header => secrets.retain(|kept| Some(kept.at) != oldest),
            Source::Url => return,
        }
    }
    let place = secrets.partition_point(|kept| kept.text.len() > text.len());
    let text = text.to_owned();
    secrets.insert(place, Kept { text, source, at });
}

impl core::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Secrets({})", self.lock().len())
    }
}

/// Returns whether the value of a header lets another program act for the user. Headers that the user
/// gives are not shown either.
pub(crate) fn is_secret(name: &str) -> bool {
    const NAMES: [&str; 6] = [
        "authorization",
        "cookie",
        "dpop",
        "mcp-session-id",
        "proxy-authorization",
        "set-cookie",
    ];
    NAMES.contains(&name)
}

/// The bytes of the shortest text that is masked: shorter ones are in other words by chance.
const SHORTEST: usize = 4;
/// The number of texts of headers, and of URLs, that are kept.
const MOST: usize = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked() {
        let secrets = Secrets::default();
        secrets.add_url("https://ada:passw@a.example/mcp?key=value&alone&x=1&z=example#part");
        secrets.add_header("Authorization", "Bearer to/ken");
        secrets.add_header("x-key", "passw and more");
        secrets.add_header("x-quoted", "a \"b\"");
        let check = |text: &str, expected: &str| assert_eq!(secrets.mask(text), expected);
        check(
            "https://ada:passw@a.example/mcp",
            "https://...@a.example/mcp",
        );
        check("passw, passw and more", "..., ...");
        check("key=value&alone&x=1&z=example#part", "...#...");
        check("value alone x=1", "... ... x=1");
        check("Bearer to/ken, to/ken, \"to\\/ken\"", "..., ..., \"...\"");
        check("a \"b\" \"a \\\"b\\\"\"", "... \"...\"");
        check("nothing", "nothing");
    }

    #[test]
    fn a_text_is_kept_once() {
        let secrets = Secrets::default();
        (0..9).for_each(|_| secrets.add_header("authorization", "Bearer token"));
        assert_eq!(secrets.lock().len(), 2);
    }

    /// A server that names URLs with many values, and one that sends many session ids.
    #[test]
    fn no_server_uses_up_the_room_for_credentials() {
        let secrets = Secrets::default();
        let bearer = |token: &str| secrets.add_header("authorization", &format!("Bearer {token}"));
        let values = (0..2 * MOST).map(|at| format!("&a=value{at}"));
        secrets.add_url(&format!(
            "https://a.example/mcp?{}",
            values.collect::<String>()
        ));
        bearer("of-the-user");
        for at in 0..2 * MOST {
            secrets.add_header("mcp-session-id", &format!("session-{at}"));
            bearer("of-the-user");
        }
        bearer("a-new-one");
        assert_eq!(secrets.mask("of-the-user a-new-one"), "... ...");
        assert!(secrets.lock().len() <= 2 * MOST);
    }
}
