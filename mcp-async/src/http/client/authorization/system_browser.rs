//! Logging in with the browser of this machine.

use core::fmt;
use core::future::{Future, poll_fn};
use core::net::{Ipv4Addr, SocketAddr};
use core::pin::Pin;
use core::task::Poll;
use core::time::Duration;
use std::io;
use std::net::TcpListener;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_io::{AsyncRead, AsyncWrite};
use mcp_proto::auth::{AuthorizationPage, Secret, Uri};
use url::Url;

use super::blocking::blocking;
use super::user_agent::{AuthorizationFuture, UserAgent};
use crate::net::Network;
use crate::net::time::{RuntimeSleep, timeout};

/// Opens the page in the browser of the system and receives the redirect at a port of this machine
/// (RFC 8252, section 7.3).
///
/// The port is chosen by the system for each login, or is that of an earlier registration. It is
/// open until the redirect arrives, accepts connections of this machine only, and answers only
/// `GET /callback`. A request without the `state` of the page is answered with status 400 and does
/// not end the login. The page is opened without a shell.
///
/// ```
/// use mcp_async::auth::{Authorization, SystemBrowser};
/// use mcp_async::net::Network;
///
/// fn authorization<R: Network>() -> Authorization {
///     let browser = SystemBrowser::<R>::new().announce(|url| eprintln!("Log in at {url}"));
///     Authorization::new().user_agent(browser)
/// }
/// ```
pub struct SystemBrowser<R: Network> {
    listener: Mutex<Option<Listener<R>>>,
    announce: Option<Announce>,
    is_launched: bool,
}

type Announce = Arc<dyn Fn(&str) + Send + Sync>;

struct Listener<R: Network> {
    socket: R::Listener,
    port: u16,
}

impl<R: Network> SystemBrowser<R> {
    /// Creates one that opens the browser and announces nothing.
    pub fn new() -> Self {
        Self {
            listener: Mutex::new(None),
            announce: None,
            is_launched: true,
        }
    }

    /// Calls this with the URL of each page, so that the user can open it if no browser appears. The
    /// client then waits for the redirect even if no browser can be started.
    #[must_use]
    pub fn announce(mut self, announce: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.announce = Some(Arc::new(announce));
        self
    }

    /// Starts no browser: the user opens the page that is [announced](Self::announce).
    #[must_use]
    pub const fn without_launch(mut self) -> Self {
        self.is_launched = false;
        self
    }

    fn listen(&self, registered: Option<&str>) -> io::Result<String> {
        let mut slot = self.slot();
        // Its port may be the one that is asked for.
        *slot = None;
        let bind = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let socket = match registered.and_then(registered_port) {
            Some(port) => bind(port).or_else(|_| bind(0))?,
            None => bind(0)?,
        };
        let port = socket.local_addr()?.port();
        socket.set_nonblocking(true)?;
        *slot = Some(Listener {
            socket: R::listen(socket)?,
            port,
        });
        Ok(redirect_uri(port))
    }

    /// Announces the page and starts the browser.
    async fn launch(&self, url: &str) -> io::Result<()> {
        let is_page = Uri::parse(url).is_ok_and(|url| url.is_confidential());
        if !is_page {
            return Err(io::Error::other("the page has no URL that may be opened"));
        }
        if let Some(announce) = &self.announce {
            announce(url);
        }
        if !self.is_launched {
            return Ok(());
        }
        let url = url.to_owned();
        let launched = blocking(move || open::that_detached(url)).await;
        match launched {
            Err(_) if self.announce.is_some() => Ok(()),
            // The error of the launcher contains the URL, and that contains `state`.
            Err(error) => Err(io::Error::new(error.kind(), "no browser could be started")),
            Ok(()) => Ok(()),
        }
    }

    fn slot(&self) -> MutexGuard<'_, Option<Listener<R>>> {
        self.listener.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R: Network> UserAgent for SystemBrowser<R> {
    fn redirect_uri<'a>(&'a self, registered: Option<&'a str>) -> AuthorizationFuture<'a, String> {
        Box::pin(async move { self.listen(registered) })
    }

    fn open<'a>(&'a self, page: &'a AuthorizationPage) -> AuthorizationFuture<'a, String> {
        Box::pin(async move {
            let listener = self.slot().take();
            let listener = listener.filter(|it| redirect_uri(it.port) == page.redirect_uri);
            let listener = listener.ok_or_else(|| io::Error::other("nothing listens"))?;
            let state = state_of(&page.url);
            let state = state.ok_or_else(|| io::Error::other("the page has no state"))?;
            self.launch(&page.url).await?;
            receive::<R>(&listener, &state).await
        })
    }
}

fn redirect_uri(port: u16) -> String {
    format!("http://127.0.0.1:{port}{PATH}")
}

/// The port of a redirect URI of ours.
fn registered_port(uri: &str) -> Option<u16> {
    let port = Uri::parse(uri).ok()?.port();
    (redirect_uri(port) == uri).then_some(port)
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

/// Waits for a connection. An error is about one connection, or passes with time.
async fn accept<R: Network>(listener: &R::Listener) -> (R::Stream, SocketAddr) {
    loop {
        match R::accept(listener).await {
            Ok(accepted) => return accepted,
            Err(_) => RuntimeSleep::<R>::after(PAUSE).await,
        }
    }
}

/// Answers requests until one is the redirect; returns its URL.
async fn receive<R: Network>(listener: &Listener<R>, state: &Secret) -> io::Result<String> {
    type Serving<'s> = Pin<Box<dyn Future<Output = Option<String>> + Send + 's>>;

    let port = listener.port;
    let mut serving: Vec<Serving<'_>> = Vec::new();
    let mut accepting = Box::pin(accept::<R>(&listener.socket));
    poll_fn(|cx| {
        while let Poll::Ready((stream, from)) = accepting.as_mut().poll(cx) {
            accepting.set(accept::<R>(&listener.socket));
            // A browser opens connections ahead that may stay silent; the oldest makes room.
            if from.ip().is_loopback() {
                if serving.len() >= MOST_CONNECTIONS {
                    drop(serving.remove(0));
                }
                let answered = timeout::<R, _>(PATIENCE, answer(stream, port, state));
                serving.push(Box::pin(async move { answered.await.flatten() }));
            }
        }
        let mut index = 0;
        while let Some(connection) = serving.get_mut(index) {
            match connection.as_mut().poll(cx) {
                Poll::Pending => index += 1,
                Poll::Ready(Some(url)) => return Poll::Ready(Ok(url)),
                Poll::Ready(None) => drop(serving.remove(index)),
            }
        }
        Poll::Pending
    })
    .await
}

/// Answers one request; returns its URL if it is the redirect.
async fn answer<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    port: u16,
    state: &Secret,
) -> Option<String> {
    let head = read_head(&mut stream).await?;
    let (response, url) = match target(&head, port, state) {
        Ok(url) => (DONE, Some(url)),
        Err(response) => (response, None),
    };
    // The redirect counts, even if the browser does not wait for the page.
    let _ = write_all(&mut stream, response.as_bytes()).await;
    url
}

/// The URL of the redirect, or the response to a request that is something else.
fn target(head: &str, port: u16, state: &Secret) -> Result<String, &'static str> {
    let mut lines = head.split("\r\n");
    let mut request = lines.next().unwrap_or_default().split(' ');
    let (method, target) = (request.next(), request.next().unwrap_or_default());
    let host = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("host").then(|| value.trim())
    });
    // A page elsewhere whose name leads here does not reach this listener.
    if host != Some(format!("127.0.0.1:{port}").as_str()) {
        return Err(MISDIRECTED);
    }
    match target.split_once('?') {
        _ if method != Some("GET") => Err(WRONG_METHOD),
        Some((PATH, query)) if !query.is_empty() => {
            let url = format!("http://127.0.0.1:{port}{target}");
            // Any page of the browser can send requests here (AU-54).
            match state_of(&url).is_some_and(|found| state.matches(found.expose())) {
                true => Ok(url),
                false => Err(WRONG_STATE),
            }
        }
        _ => Err(NOT_FOUND),
    }
}

async fn read_head<S: AsyncRead + Unpin>(stream: &mut S) -> Option<String> {
    let mut head = Vec::new();
    loop {
        let mut bytes = [0; 2048];
        let read = poll_fn(|cx| Pin::new(&mut *stream).poll_read(cx, &mut bytes)).await;
        let read = read.ok().filter(|read| *read > 0)?;
        head.extend_from_slice(bytes.get(..read)?);
        if let Some(end) = head.windows(4).position(|end| end == b"\r\n\r\n") {
            head.truncate(end);
            return String::from_utf8(head).ok();
        }
        if head.len() > MOST_HEAD {
            return None;
        }
    }
}

async fn write_all<S: AsyncWrite + Unpin>(stream: &mut S, mut rest: &[u8]) -> io::Result<()> {
    while !rest.is_empty() {
        let written = poll_fn(|cx| Pin::new(&mut *stream).poll_write(cx, rest)).await?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        rest = rest.get(written..).unwrap_or_default();
    }
    poll_fn(|cx| Pin::new(&mut *stream).poll_close(cx)).await
}

impl<R: Network> Default for SystemBrowser<R> {
    fn default() -> Self {
        Self::new()
    }
}

impl<R: Network> fmt::Debug for SystemBrowser<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SystemBrowser").finish_non_exhaustive()
    }
}

const PATH: &str = "/callback";
/// Connections that are read at once.
const MOST_CONNECTIONS: usize = 16;
/// How long to wait after an error of the listener.
const PAUSE: Duration = Duration::from_millis(100);
/// How long one connection may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest head of a request.
const MOST_HEAD: usize = 32 << 10;

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
const NOT_FOUND: &str = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
const WRONG_METHOD: &str = "HTTP/1.1 405 Method Not Allowed\r\nAllow: GET\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
const MISDIRECTED: &str =
    "HTTP/1.1 421 Misdirected Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_redirect_is_taken() {
        let head = |line: &str| format!("{line} HTTP/1.1\r\nAccept: */*\r\nHost: 127.0.0.1:8080");
        let redirect = head("GET /callback?code=1&state=2");
        let state = Secret::from("2");
        let target = |head: &str, port| target(head, port, &state);
        let url = "http://127.0.0.1:8080/callback?code=1&state=2";
        assert_eq!(target(&redirect, 8080).as_deref(), Ok(url));
        assert_eq!(target(&redirect, 8081), Err(MISDIRECTED));
        let other = |line, response| assert_eq!(target(&head(line), 8080), Err(response), "{line}");
        other("GET /callback?x=1", WRONG_STATE);
        other("GET /callback?code=1&state=", WRONG_STATE);
        other("GET /callback?code=1&state=22", WRONG_STATE);
        other("GET /callback?error=access_denied&state=3", WRONG_STATE);
        other("GET /callback?code=1&state=2&state=2", WRONG_STATE);
        other("GET /favicon.ico", NOT_FOUND);
        other("GET /callback", NOT_FOUND);
        other("GET /callback?", NOT_FOUND);
        other("GET /callbacks?code=1", NOT_FOUND);
        other("POST /callback?code=1", WRONG_METHOD);
        let rebound = "GET /callback?code=1 HTTP/1.1\r\nHost: evil.example:8080";
        assert_eq!(target(rebound, 8080), Err(MISDIRECTED));
    }

    #[test]
    fn the_length_of_the_page_is_right() {
        let (head, body) = DONE.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())));
    }

    #[test]
    fn the_port_of_a_registration_is_read() {
        assert_eq!(
            registered_port("http://127.0.0.1:8080/callback"),
            Some(8080)
        );
        assert_eq!(registered_port("http://127.0.0.1:8080/other"), None);
        assert_eq!(registered_port("https://a.example/callback"), None);
    }
}
