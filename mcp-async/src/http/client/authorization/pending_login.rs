//! The requests of a browser that belong to one login.

use core::sync::atomic::{AtomicBool, Ordering};
use std::borrow::Cow;
use std::io;

use mcp_auth::{AuthorizationPage, Secret, Uri};
use url::Url;

use crate::random;

/// A login that waits for its redirect at a port of this machine.
///
/// The browser begins at `/start/` and a text that is not known elsewhere, is sent to the page and
/// receives a cookie. The redirect counts with this cookie only.
pub(super) struct PendingLogin {
    port: u16,
    page: String,
    /// The path of the redirect URI.
    path: String,
    state: Secret,
    cookie: Secret,
    /// The text of the browser that the client starts. Other users of the machine may see it, so that
    /// it counts once.
    pub(super) launched: Secret,
    has_started: AtomicBool,
    /// The text that only the user sees.
    pub(super) announced: Secret,
}

impl PendingLogin {
    pub(super) fn new(page: &AuthorizationPage, port: u16) -> io::Result<Self> {
        let uri = Uri::parse(&page.url).ok();
        if !uri.is_some_and(|uri| uri.is_confidential()) {
            return Err(io::Error::other("the page has no URL that may be opened"));
        }
        let state = state_of(&page.url);
        let redirect_uri = Uri::parse(&page.redirect_uri).map_err(io::Error::other)?;
        Ok(Self {
            port,
            page: page.url.clone(),
            path: redirect_uri.path().to_owned(),
            state: state.ok_or_else(|| io::Error::other("the page has no state"))?,
            cookie: random::id()?.into(),
            launched: random::id()?.into(),
            has_started: AtomicBool::new(false),
            announced: random::id()?.into(),
        })
    }

    /// The address that leads to the page.
    pub(super) fn start_url(&self, text: &Secret) -> String {
        format!("http://127.0.0.1:{}{START}{}", self.port, text.expose())
    }

    /// The response to the head of a request, and the URL of the redirect if it is that.
    pub(super) fn answer(&self, head: &str) -> (Cow<'static, str>, Option<String>) {
        match self.target(head) {
            Ok(Target::Page) => (self.page_response().into(), None),
            Ok(Target::Redirect(url)) => (DONE.into(), Some(url)),
            Err(response) => (response.into(), None),
        }
    }

    fn target(&self, head: &str) -> Result<Target, &'static str> {
        let port = self.port;
        let mut lines = head.split("\r\n");
        let mut request = lines.next().unwrap_or_default().split(' ');
        let (method, target) = (request.next(), request.next().unwrap_or_default());
        let fields = || {
            let fields = lines.clone().filter_map(|line| line.split_once(':'));
            fields.map(|(name, value)| (name, value.trim()))
        };
        let mut hosts = fields().filter(|(name, _)| name.eq_ignore_ascii_case("host"));
        // A page elsewhere whose name leads here does not reach this listener.
        if hosts.next().map(|(_, host)| host) != Some(format!("127.0.0.1:{port}").as_str()) {
            return Err(MISDIRECTED);
        }
        if method != Some("GET") {
            return Err(WRONG_METHOD);
        }
        if let Some(text) = target.strip_prefix(START) {
            return match self.may_start(text) {
                true => Ok(Target::Page),
                false => Err(NOT_FOUND),
            };
        }
        match target.split_once('?') {
            Some((path, query)) if path == self.path && !query.is_empty() => {
                let url = format!("http://127.0.0.1:{port}{target}");
                let name = self.cookie_name();
                let mut cookies = fields()
                    .filter(|(name, _)| name.eq_ignore_ascii_case("cookie"))
                    .flat_map(|(_, cookies)| cookies.split(';'))
                    .filter_map(|cookie| cookie.trim().split_once('='));
                let has_cookie =
                    cookies.any(|(of, value)| of == name && self.cookie.matches(value));
                // Any page of the browser can send requests here (AU-54).
                let has_state = state_of(&url).is_some_and(|it| self.state.matches(it.expose()));
                match (has_state, has_cookie) {
                    (true, true) => Ok(Target::Redirect(url)),
                    (true, false) => Err(OTHER_BROWSER),
                    (false, _) => Err(WRONG_STATE),
                }
            }
            _ => Err(NOT_FOUND),
        }
    }

    fn may_start(&self, text: &str) -> bool {
        self.announced.matches(text)
            || (self.launched.matches(text) && !self.has_started.swap(true, Ordering::Relaxed))
    }

    /// Cookies are shared by all ports of a host.
    fn cookie_name(&self) -> String {
        format!("login-{}", self.port)
    }

    fn page_response(&self) -> String {
        let (page, path) = (&self.page, &self.path);
        let (name, cookie) = (self.cookie_name(), self.cookie.expose());
        format!(
            "HTTP/1.1 302 Found\r\n\
             Location: {page}\r\n\
             Set-Cookie: {name}={cookie}; Path={path}; HttpOnly; SameSite=Lax\r\n\
             Content-Length: 0\r\n\
             Referrer-Policy: no-referrer\r\n\
             Cache-Control: no-store\r\n\
             Connection: close\r\n\r\n"
        )
    }
}

/// The meaning of a request.
#[derive(Debug, PartialEq, Eq)]
enum Target {
    Page,
    /// The redirect, with its URL.
    Redirect(String),
}

/// The parameter `state` of a URL, unless it is missing or comes twice.
fn state_of(url: &str) -> Option<Secret> {
    let url = Url::parse(url).ok()?;
    let mut states = url.query_pairs().filter(|(name, _)| name == "state");
    let (_, state) = states.next()?;
    match states.next() {
        None => Some(Secret::from(state.into_owned())),
        Some(_) => None,
    }
}

const START: &str = "/start/";

const DONE: &str = "HTTP/1.1 200 OK\r\n\
Content-Type: text/html; charset=utf-8\r\n\
Content-Length: 165\r\n\
Content-Security-Policy: default-src 'none'\r\n\
Referrer-Policy: no-referrer\r\n\
Cache-Control: no-store\r\n\
Connection: close\r\n\r\n\
<!doctype html><html lang=\"en\"><title>Log in</title>\
<p>The application has received the answer of the server. You can close this window and return to it.</p></html>\n";
const WRONG_STATE: &str =
    "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
const OTHER_BROWSER: &str = "HTTP/1.1 403 Forbidden\r\n\
Content-Type: text/plain; charset=utf-8\r\n\
Content-Length: 59\r\n\
Connection: close\r\n\r\n\
The login did not begin in this browser, or without cookies";
const NOT_FOUND: &str = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
const WRONG_METHOD: &str = "HTTP/1.1 405 Method Not Allowed\r\nAllow: GET\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
const MISDIRECTED: &str =
    "HTTP/1.1 421 Misdirected Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

#[cfg(test)]
mod tests {
    use super::*;

    fn login() -> PendingLogin {
        PendingLogin {
            port: 8080,
            page: "https://login.example/?state=2".into(),
            path: "/callback/0a".into(),
            state: "2".into(),
            cookie: "c00".into(),
            launched: "seen".into(),
            has_started: AtomicBool::new(false),
            announced: "unseen".into(),
        }
    }

    fn head(line: &str) -> String {
        format!("{line} HTTP/1.1\r\nAccept: */*\r\nHost: 127.0.0.1:8080")
    }

    const COOKIE: &str = "\r\nCookie: other=1; login-8080=c00";

    #[test]
    fn only_the_redirect_is_taken() {
        let login = login();
        let redirect = head("GET /callback/0a?code=1&state=2") + COOKIE;
        let url = "http://127.0.0.1:8080/callback/0a?code=1&state=2";
        assert_eq!(login.target(&redirect), Ok(Target::Redirect(url.into())));
        let other = |line: &str, response| {
            assert_eq!(
                login.target(&(head(line) + COOKIE)),
                Err(response),
                "{line}"
            );
        };
        other("GET /callback/0a?x=1", WRONG_STATE);
        other("GET /callback/0a?code=1&state=", WRONG_STATE);
        other("GET /callback/0a?code=1&state=22", WRONG_STATE);
        other("GET /callback/0a?error=access_denied&state=3", WRONG_STATE);
        other("GET /callback/0a?code=1&state=2&state=2", WRONG_STATE);
        other("GET /favicon.ico", NOT_FOUND);
        other("GET /callback/0a", NOT_FOUND);
        other("GET /callback/0a?", NOT_FOUND);
        other("GET /callbacks?code=1", NOT_FOUND);
        // That is the place for other issuers.
        other("GET /callback?code=1&state=2", NOT_FOUND);
        other("GET /callback/0b?code=1&state=2", NOT_FOUND);
        other("POST /callback/0a?code=1", WRONG_METHOD);
        for host in ["evil.example:8080", "127.0.0.1:8081"] {
            let rebound = format!("GET /callback/0a?code=1 HTTP/1.1\r\nHost: {host}");
            assert_eq!(login.target(&rebound), Err(MISDIRECTED));
        }
    }

    #[test]
    fn the_redirect_counts_with_the_cookie_of_the_start() {
        let login = login();
        let redirect = "GET /callback/0a?code=1&state=2";
        for cookie in [
            "",
            "\r\nCookie: login-8080=c01",
            "\r\nCookie: login-8081=c00",
            "\r\nX-Cookie: login-8080=c00",
        ] {
            let found = login.target(&(head(redirect) + cookie));
            assert_eq!(found, Err(OTHER_BROWSER), "{cookie}");
        }
        // Other users may know the first address, so that it leads to the page once.
        for (start, leads) in [
            ("GET /start/seen", true),
            ("GET /start/seen", false),
            ("GET /start/unseen", true),
            ("GET /start/unseen", true),
            ("GET /start/", false),
            ("GET /start/other", false),
        ] {
            let (response, url) = login.answer(&head(start));
            assert_eq!((response.starts_with("HTTP/1.1 302"), url), (leads, None));
            assert_eq!(response.contains("c00"), leads, "{start}");
            assert_eq!(
                response.contains("https://login.example/?state=2\r\n"),
                leads
            );
        }
        assert_eq!(
            login.start_url(&login.launched),
            "http://127.0.0.1:8080/start/seen"
        );
    }

    #[test]
    fn the_lengths_of_the_pages_are_right() {
        for page in [DONE, OTHER_BROWSER] {
            let (head, body) = page.split_once("\r\n\r\n").unwrap();
            assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())));
        }
    }
}
