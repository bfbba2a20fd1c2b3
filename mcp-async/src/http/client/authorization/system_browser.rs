//! Logging in with the browser of this machine.

use core::fmt;
use core::future::{Future, poll_fn};
use core::net::{Ipv4Addr, SocketAddr};
use core::pin::Pin;
use core::task::Poll;
use core::time::Duration;
use std::io;
use std::net::TcpListener;
use std::sync::{Arc, OnceLock};

use futures_io::{AsyncRead, AsyncWrite};
use mcp_auth::{AuthorizationPage, Uri};

use super::blocking::blocking;
use super::pending_login::PendingLogin;
use super::user_agent::UserAgent;
use crate::net::io::write_all;
use crate::runtime::{self, BoxStream, RuntimeHandle, Sleep, within};
use crate::sync::Lock;

/// Opens the page in the browser of the system and receives the redirect at a port of this machine
/// (RFC 8252, section 7.3).
///
/// The port is chosen by the system for each login, or is that of an earlier registration. It is
/// open until the redirect arrives, or, if the login fails before its page is opened, until sixteen
/// later logins have begun. It accepts connections of this machine only, and answers only
/// `GET` for `/callback`, or for a path below it where the client registers itself. A request
/// without the `state` of the page is answered with status 400 and does not end the login. The page
/// is opened without a shell.
///
/// All users of a machine see the arguments of its programs. The browser is therefore started with
/// an address of this port, which leads to the page once and sets a cookie, and the redirect counts
/// only with that cookie. Another user who takes the address first cannot do so unnoticed: the
/// browser of the first shows an error in place of the page.
///
/// ```
/// use mcp_async::auth::{Authorization, SystemBrowser};
///
/// fn authorization() -> Authorization {
///     let browser = SystemBrowser::new().announce(|url| eprintln!("Log in at {url}"));
///     Authorization::new().user_agent(browser)
/// }
/// ```
pub struct SystemBrowser {
    runtime: OnceLock<RuntimeHandle>,
    /// Those of logins whose page is not opened yet, the oldest first: several clients may share the browser.
    listeners: Lock<Vec<Listener>>,
    announce: Option<Announce>,
    is_launched: bool,
}

type Announce = Arc<dyn Fn(&str) + Send + Sync>;

struct Listener {
    socket: Box<dyn runtime::Listener>,
    port: u16,
}

impl SystemBrowser {
    /// Creates one that opens the browser and announces nothing.
    pub fn new() -> Self {
        Self {
            runtime: OnceLock::new(),
            listeners: Lock::new(Vec::new()),
            announce: None,
            is_launched: true,
        }
    }

    /// Calls this with an address of this machine that leads to the page, so that the user can open it
    /// if no browser appears. The client then waits for the redirect even if no browser can be started.
    /// Only the user may see the address: every person who opens it can log in.
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
        let mut listeners = self.listeners.lock();
        let registered = registered.and_then(registered_port);
        // A login that has failed before its page was opened leaves its listener.
        listeners.retain(|it| Some(it.port) != registered);
        let bind = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let socket = match registered {
            Some(port) => bind(port).or_else(|_| bind(0))?,
            None => bind(0)?,
        };
        let port = socket.local_addr()?.port();
        socket.set_nonblocking(true)?;
        if listeners.len() >= MOST_LISTENERS {
            listeners.remove(0);
        }
        listeners.push(Listener {
            socket: self.runtime()?.listen(socket)?,
            port,
        });
        Ok(redirect_uri(port))
    }

    /// Announces the page and starts the browser.
    async fn launch(&self, login: &PendingLogin) -> io::Result<()> {
        if let Some(announce) = &self.announce {
            announce(&login.start_url(&login.announced));
        }
        if !self.is_launched {
            return Ok(());
        }
        let url = login.start_url(&login.launched);
        let launched = blocking(move || open::that_detached(url)).await;
        match launched {
            Err(_) if self.announce.is_some() => Ok(()),
            // The error of the launcher contains the URL.
            Err(error) => Err(io::Error::new(error.kind(), "no browser could be started")),
            Ok(()) => Ok(()),
        }
    }

    /// Returns the runtime that it was started with.
    fn runtime(&self) -> io::Result<&RuntimeHandle> {
        let runtime = self.runtime.get();
        runtime.ok_or_else(|| io::Error::other("no connection was begun that brings a runtime"))
    }

    /// Takes the listener for redirects to this URI.
    fn take(&self, redirect_uri: &str) -> io::Result<Listener> {
        let mut listeners = self.listeners.lock();
        let is_it = |it: &Listener| is_received(redirect_uri, it.port);
        let place = listeners.iter().position(is_it);
        let place = place.ok_or_else(|| io::Error::other("nothing listens"))?;
        Ok(listeners.remove(place))
    }
}

impl UserAgent for SystemBrowser {
    fn start(&self, runtime: &RuntimeHandle) {
        self.runtime.get_or_init(|| runtime.clone());
    }

    async fn redirect_uri(&self, registered: Option<&str>) -> io::Result<String> {
        self.listen(registered)
    }

    async fn open(&self, page: &AuthorizationPage) -> io::Result<String> {
        let listener = self.take(&page.redirect_uri)?;
        let login = PendingLogin::new(page, listener.port)?;
        self.launch(&login).await?;
        receive(self.runtime()?, &listener, &login).await
    }

    fn receives_subpaths(&self) -> bool {
        true
    }
}

fn redirect_uri(port: u16) -> String {
    format!("http://127.0.0.1:{port}{PATH}")
}

/// The port of a redirect URI of ours.
fn registered_port(uri: &str) -> Option<u16> {
    let port = Uri::parse(uri).ok()?.port();
    is_received(uri, port).then_some(port)
}

/// Returns true if redirects to this URI arrive at this port.
fn is_received(uri: &str, port: u16) -> bool {
    let below = uri.strip_prefix(&redirect_uri(port));
    below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
}

/// Waits for a connection. An error is about one connection, or passes with time.
async fn accept(
    runtime: &RuntimeHandle,
    listener: &dyn runtime::Listener,
) -> (BoxStream, SocketAddr) {
    loop {
        match poll_fn(|cx| listener.poll_accept(cx)).await {
            Ok(accepted) => return accepted,
            Err(_) => Sleep::after(runtime, PAUSE).await,
        }
    }
}

/// Answers requests until one is the redirect; returns its URL.
async fn receive(
    runtime: &RuntimeHandle,
    listener: &Listener,
    login: &PendingLogin,
) -> io::Result<String> {
    type Serving<'s> = Pin<Box<dyn Future<Output = Option<String>> + Send + 's>>;

    let mut serving: Vec<Serving<'_>> = Vec::new();
    let mut accepting = Box::pin(accept(runtime, &*listener.socket));
    poll_fn(|cx| {
        while let Poll::Ready((stream, from)) = accepting.as_mut().poll(cx) {
            accepting.set(accept(runtime, &*listener.socket));
            // A browser opens connections ahead that may stay silent; the oldest makes room.
            if from.ip().is_loopback() {
                if serving.len() >= MOST_CONNECTIONS {
                    drop(serving.remove(0));
                }
                let answered = within(runtime, PATIENCE, answer(stream, login));
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
    login: &PendingLogin,
) -> Option<String> {
    let head = read_head(&mut stream).await?;
    let (response, url) = login.answer(&head);
    // The redirect counts, even if the browser does not wait for the page.
    if write_all(&mut stream, response.as_bytes()).await.is_ok() {
        let _ = poll_fn(|cx| Pin::new(&mut stream).poll_close(cx)).await;
    }
    url
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

impl Default for SystemBrowser {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for SystemBrowser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SystemBrowser").finish_non_exhaustive()
    }
}

const PATH: &str = "/callback";
/// Logins at once whose page is not opened yet.
const MOST_LISTENERS: usize = 16;
/// Connections that are read at once.
const MOST_CONNECTIONS: usize = 16;
/// The pause after an error of the listener.
const PAUSE: Duration = Duration::from_millis(100);
/// The time limit of one connection.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest head of a request.
const MOST_HEAD: usize = 32 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_of_a_registration_is_read() {
        assert_eq!(
            registered_port("http://127.0.0.1:8080/callback"),
            Some(8080)
        );
        assert_eq!(
            registered_port("http://127.0.0.1:8080/callback/0a"),
            Some(8080)
        );
        assert_eq!(registered_port("http://127.0.0.1:8080/callbacks"), None);
        assert_eq!(registered_port("http://127.0.0.1:8080/other"), None);
        assert_eq!(registered_port("https://a.example/callback"), None);
    }
}
